/** A guarantee of the service and the tests that prove it. */
export interface Promised {
  readonly id: string
  readonly promise: string
  /** The condition under which it counts as kept. */
  readonly criterion: string
  /** Test files below `test/`; those that end in `.prove.ts` take too long for `npm test`. */
  readonly proofs: ReadonlyArray<string>
}

const promised = (id: string, promise: string, criterion: string, ...proofs: ReadonlyArray<string>): Promised => ({
  id,
  promise,
  criterion,
  proofs
})

/** Every promise of the service, in the order in which `npm run prove` runs them. */
export const promises: ReadonlyArray<Promised> = [
  promised(
    "K1",
    "every operation returns each status it documents and no other",
    "all declared operation × status pairs occur, and each response decodes with its schema",
    "conformance/Statuses.test.ts",
    "api/Operations.test.ts"
  ),
  promised(
    "K2",
    "the OpenAPI document is valid",
    "redocly, spectral and swagger-parser report no error",
    "conformance/OpenApiValidators.prove.ts"
  ),
  promised(
    "K3",
    "clients generated from the OpenAPI document work",
    "the clients of six generators compile strictly and call the running service; a seventh generates Java",
    "conformance/GeneratedClients.prove.ts"
  ),
  promised(
    "K4",
    "requests and responses are as the OpenAPI document describes them",
    "a validating proxy passes 500 good requests and finds no violation; the service accepts every request example",
    "conformance/ValidatingProxy.prove.ts",
    "api/RequestExamples.test.ts"
  ),
  promised(
    "T1",
    "overload is rejected with 503 and does not harm the service",
    "only 200 and 503 with Retry-After; at least 0.9 of the 200s that the limit allows; 0 broken connections; p99 normal again within 2 s; RSS ≤ 350 MB",
    "prove/Overload.prove.ts"
  ),
  promised(
    "T2",
    "10,000 requests over 200 connections succeed",
    "10,000 × 200, p99 < 500 ms",
    "prove/TenThousand.prove.ts"
  ),
  promised(
    "T3",
    "pipelined requests count towards the in-flight limit",
    "requests in flight ≤ limit, all others 503",
    "prove/Pipelining.prove.ts"
  ),
  promised(
    "T4",
    "slow clients do not slow down other clients",
    "p99 of other clients < 200 ms; stalled headers and bodies get a 408 in time; slow readers are disconnected",
    "prove/SlowClients.prove.ts",
    "wire/Parser.test.ts",
    "wire/SlowReaders.test.ts",
    "wire/UploadTimes.test.ts"
  ),
  promised(
    "T5",
    "an oversized body is rejected without buffering it",
    "413, 415 or 404; memory grows < 30 MB",
    "prove/LargeBodies.prove.ts"
  ),
  promised(
    "T6",
    "a body that is expensive to validate does not delay other requests",
    "other requests wait < 250 ms, no 500",
    "prove/CostlyBodies.prove.ts"
  ),
  promised(
    "T7",
    "memory, descriptors and connections do not leak",
    "heap grows < 1 MB per 10 s; no more descriptors than before; database connections within the pool",
    "prove/Soak.prove.ts"
  ),
  promised("D1", "kill -9 loses no acknowledged write", "0 lost writes, restart ≤ 3 s", "prove/Kills.prove.ts"),
  promised(
    "D2",
    "kill -9 during uploads leaves no partial file",
    "every file row has complete bytes; unfinished uploads have no file row; temporary files are removed after an hour",
    "process/UploadDurability.test.ts",
    "storage/FileCrashes.test.ts"
  ),
  promised(
    "D3",
    "a crash between storing a file and its row leaves at most an orphaned file, which is removed",
    "the orphan is removed, referenced files stay",
    "storage/FileCrashes.test.ts",
    "jobs/Sweeper.test.ts",
    "jobs/SweeperRaces.test.ts"
  ),
  promised(
    "D4",
    "SIGTERM fails no request in progress that ends within 20 s after DRAIN_SECONDS",
    "0 failures among requests begun before the listener closes, exit code 0",
    "process/Lifecycle.test.ts",
    "prove/Drain.prove.ts"
  ),
  promised(
    "D5",
    "shutdown after SIGTERM takes bounded time, even when dependencies hang",
    "exit ≤ 22 s after `DRAIN_SECONDS`, 30 s with `WORKERS`; stuck requests get a 503",
    "prove/StuckDrain.prove.ts"
  ),
  promised(
    "D6",
    "a rolling restart of the nodes fails no request",
    "0 failed requests over 4 restarts",
    "prove/RollingRestart.prove.ts"
  ),
  promised(
    "W1",
    "WORKERS runs several processes on one port",
    "every worker serves requests; a killed worker is replaced; SIGTERM fails no request",
    "process/Workers.test.ts"
  ),
  promised(
    "W2",
    "the service works behind PgBouncer in transaction mode",
    "the tests of every kind of operation pass",
    "prove/PgBouncer.prove.ts"
  ),
  promised(
    "M1",
    "the alert rules fire when they should, and the files for monitoring are valid",
    "promtool accepts rules, configuration and the queries of the dashboard; the unit tests of every alert pass",
    "deploy/Alerts.prove.ts",
    "deploy/Monitoring.test.ts"
  ),
  promised(
    "M2",
    "the service works behind nginx and Caddy as configured in deploy",
    "conditional writes, limits, uploads and downloads pass; parts are not buffered; restarts of two instances fail no request behind nginx, at most 1 in 1,000 behind Caddy",
    "deploy/Proxies.prove.ts"
  ),
  promised(
    "P1",
    "the service survives a restart of PostgreSQL",
    "during the outage only 503, within 1 s; success ≤ 1 s after the restart; no acknowledged write lost",
    "prove/DatabaseRestart.prove.ts"
  ),
  promised(
    "P2",
    "the service survives a crash of PostgreSQL",
    "as P1, after kill -9 of the postmaster and an immediate stop",
    "prove/DatabaseRestart.prove.ts"
  ),
  promised(
    "P3",
    "database connections may be terminated at any point",
    "idle: no request fails; during a query or transaction: retried or 503, never 500",
    "prove/EndedBackends.prove.ts"
  ),
  promised(
    "P4",
    "a database that hangs does not hang requests",
    "every response within the request timeout + 0.3 s; requests succeed afterwards",
    "prove/FrozenDatabase.prove.ts"
  ),
  promised(
    "P5",
    "waiting for a database connection is bounded",
    "above the in-flight limit 503 at once, below it 503 within the request timeout; connections idle afterwards",
    "prove/ExhaustedPool.prove.ts"
  ),
  promised(
    "P6",
    "deadlocks and serialization failures are retried",
    "no client sees one; at most 5 attempts per write",
    "prove/Deadlocks.prove.ts"
  ),
  promised(
    "P7",
    "timeouts of the database become 503",
    "503 in the envelope; the connections stay usable",
    "prove/DatabaseTimeouts.prove.ts"
  ),
  promised(
    "P8",
    "a full database disk affects writes only",
    "writes 503, reads 200; writes succeed once space is freed",
    "prove/FullDatabase.prove.ts"
  ),
  promised(
    "P9",
    "nodes may start concurrently on an empty database",
    "migrations run once, all nodes become ready",
    "prove/MigrationRace.prove.ts"
  ),
  promised(
    "S1",
    "a write to a full disk leaves no partial file",
    "503, no bytes left behind, smaller files still fit",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts"
  ),
  promised(
    "S2",
    "a write that cannot be flushed to disk is not acknowledged",
    "503, no row",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/BrokenDisk.prove.ts"
  ),
  promised(
    "S3",
    "a failing object store becomes a 503 in bounded time",
    "≤ 3 attempts, ≤ 12 s, then 503; no row; an interrupted download never looks complete",
    "storage/S3Faults.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/StalledStore.prove.ts"
  ),
  promised(
    "S4",
    "aborting an upload concurrently with its parts leaves no bytes",
    "storage use back to 0",
    "storage/FileRaces.test.ts",
    "storage/S3Faults.test.ts",
    "http/files/UploadRaces.test.ts"
  ),
  promised(
    "C1",
    "of concurrent writes of one identifier on two nodes exactly one succeeds",
    "1 × 2xx, all others DuplicateIdentifierError, 0 × 500",
    "prove/TwoNodes.prove.ts"
  ),
  promised(
    "C2",
    "concurrent patches of different fields do not overwrite each other",
    "every patch is in the record",
    "prove/LostUpdates.test.ts"
  ),
  promised(
    "C3",
    "concurrent deletes, updates and links keep references consistent",
    "0 dangling references; only 2xx, 400, 404, 409, and 412 with If-Match",
    "prove/References.prove.ts"
  ),
  promised("C4", "completing an upload twice creates one file", "one uuid", "http/files/UploadRaces.test.ts"),
  promised(
    "C5",
    "a node with a wrong clock does no harm",
    "createdAt is the time of the database; editedAt ≥ createdAt; no active upload is removed",
    "prove/WrongClock.prove.ts"
  ),
  promised(
    "F1",
    "no input causes a server error",
    "20,000 requests, 0 × 5xx, every response documented",
    "prove/Fuzz.prove.ts"
  ),
  promised(
    "F2",
    "filters find exactly the matching records",
    "20,000 filters agree with a reference implementation",
    "prove/FilterOracle.prove.ts",
    "sql/Filtering.test.ts"
  ),
  promised(
    "F3",
    "malformed HTTP gets a 4xx or a closed connection",
    "70 raw requests and 5,000 mutated ones; the service keeps running; memory stays flat",
    "wire/Parser.test.ts",
    "prove/Garbage.prove.ts"
  ),
  promised(
    "F4",
    "mutated upload bodies leave no files behind",
    "5,000 mutated part uploads, 4xx or 200, no temporary files",
    "prove/MutatedUploads.prove.ts"
  ),
  promised(
    "F5",
    "the service behaves as a model of it",
    "300 sequences × 30 commands give equal results",
    "prove/Model.prove.ts"
  ),
  promised("B1", "a backup taken under load restores completely", "rows and files are equal", "prove/Backup.prove.ts"),
  promised(
    "B2",
    "the database can be recovered to a point in time",
    "exactly the rows of that moment",
    "prove/PointInTime.prove.ts"
  ),
  promised(
    "B3",
    "database and files of a backup are consistent",
    "no row without its file",
    "prove/Backup.prove.ts",
    "cli/backup/Backup.test.ts"
  ),
  promised(
    "I1",
    "the invariants of the data hold",
    "0 violations; every planted violation is detected",
    "prove/Invariants.test.ts"
  ),
  promised(
    "API1",
    "an id of another kind or of another key gives no access",
    "404, database unchanged",
    "threats/ObjectIds.test.ts"
  ),
  promised(
    "API2",
    "API keys cannot be guessed, found by timing or read in logs",
    "header variants 401; Welch t < 4.5; a revoked key is rejected at once; 0 keys in logs",
    "threats/Keys.test.ts",
    "threats/Timing.prove.ts"
  ),
  promised(
    "API3",
    "hidden columns cannot be read, filtered, sorted or searched",
    "a canary value in every table is never returned, and lists and searches do not reveal any of 64 prefixes of it",
    "threats/HiddenColumns.test.ts"
  ),
  promised(
    "API4",
    "no request is larger or longer than allowed",
    "one above each limit is rejected; every regular expression runs in linear time",
    "wire/Limits.test.ts",
    "wire/Transport.test.ts",
    "threats/RegularExpressions.prove.ts"
  ),
  promised(
    "API5",
    "every operation requires its permission",
    "every operation called with every kind of key",
    "http/transport/Authorization.test.ts",
    "api/Permissions.test.ts"
  ),
  promised(
    "API6",
    "a key has quotas, and every change is logged",
    "the 51st open upload is rejected; changes logged = changes made",
    "http/files/UploadLimits.test.ts",
    "threats/Audit.test.ts"
  ),
  promised(
    "API7",
    "the service connects only to its database and storage",
    "no other connection in a traced run",
    "threats/Egress.prove.ts"
  ),
  promised(
    "API8",
    "errors and headers disclose no internals",
    "no stack, SQL, path or DSN in any error of an operation, nor in the common errors of every third operation; security headers on every response",
    "threats/Disclosure.test.ts",
    "wire/Pages.test.ts"
  ),
  promised(
    "API9",
    "there are no undocumented routes",
    "routes = operations of the OpenAPI document",
    "threats/Inventory.test.ts",
    "api/OpenApi.test.ts"
  ),
  promised(
    "API10",
    "data from storage and database is validated",
    "wrong sizes, bytes, hashes, responses and rows are errors that hide their cause",
    "storage/S3Faults.test.ts",
    "http/files/StorageFaults.test.ts",
    "http/files/UploadRules.test.ts",
    "http/lists/SpoiledRows.test.ts"
  ),
  promised(
    "UP1",
    "file names cannot escape the storage folder",
    "200 hostile names; only generated names on disk",
    "threats/FileNames.test.ts",
    "http/files/UploadNames.test.ts"
  ),
  promised(
    "UP2",
    "hostile files are never executed or rendered",
    "served as downloads or rejected; decoders are bounded",
    "threats/HostileFiles.test.ts",
    "http/files/UploadTypes.test.ts",
    "media/NonImages.test.ts"
  ),
  promised(
    "UP3",
    "parts may arrive in any order, and unfinished uploads expire",
    "random orders give the same file; bytes of expired uploads are removed",
    "threats/PartOrders.test.ts",
    "http/files/UploadSessions.test.ts",
    "jobs/Sweeper.test.ts"
  ),
  promised(
    "ST1",
    "files are complete or absent",
    "as D1 to D3",
    "storage/FileCrashes.test.ts",
    "storage/FileDisk.test.ts"
  ),
  promised(
    "ST2",
    "storage faults are 503, and reads of records continue",
    "as S1 to S3",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/StalledStore.prove.ts"
  ),
  promised(
    "ST3",
    "a file can be downloaded only with a signed, unexpired URL",
    "403 otherwise",
    "http/files/Files.test.ts"
  ),
  promised(
    "Q1",
    "answers that clients do not read do not harm other keys",
    "60 unread pages of 13 MiB, of one key and of 60, and pages that two keys read at 2 KiB a second; the process lives, RSS ≤ 600 MB; other keys: only 200, p99 ≤ 250 ms",
    "prove/UnreadAnswers.prove.ts"
  ),
  promised(
    "Q2",
    "costly filters of one key do not harm other keys",
    "10, 40 and 520 connections; other keys: only 200, reads p99 ≤ 150 ms, writes p99 ≤ 400 ms, readiness p99 ≤ 250 ms",
    "prove/CostlyFilters.prove.ts"
  ),
  promised(
    "Q3",
    "costly pages of one key do not harm other keys",
    "pages of 500 locations, 200 of them with 100 media, pages that are rejected, and 13 MiB of `fields`, over 4 connections, and pages of 250 assets over 384; other keys: only 200, reads p99 ≤ 150 ms, readiness p99 ≤ 250 ms",
    "prove/CostlyPages.prove.ts"
  ),
  promised(
    "Q4",
    "slow bodies of one key do not harm other keys",
    "530 and 2,000 bodies that never arrive, of which the 384 of a share stay open; other keys: only 200, p99 ≤ 250 ms",
    "prove/SlowBodies.prove.ts"
  ),
  promised(
    "Q5",
    "readiness depends on the database and the storage, not on what a key does",
    "during Q1 to Q4 and Q6 only 200, p99 ≤ 250 ms; 503 within 3 s when the database is stopped or frozen",
    "prove/UnreadAnswers.prove.ts",
    "prove/CostlyFilters.prove.ts",
    "prove/CostlyPages.prove.ts",
    "prove/SlowBodies.prove.ts",
    "prove/LargeRelations.prove.ts",
    "prove/Readiness.prove.ts"
  ),
  promised(
    "Q6",
    "large relation writes of one key do not harm other keys",
    "12 connections that replace 10,000 members; other keys: only 200, writes p99 ≤ 400 ms",
    "prove/LargeRelations.prove.ts"
  ),
  promised(
    "Q7",
    "large relation writes of one key do not harm other keys when a rate limit is set",
    "as Q6 with RATE_LIMIT_PER_SECOND",
    "prove/LargeRelations.prove.ts"
  ),
  promised(
    "Q8",
    "parts that begin together store no more than the upload allows",
    "ten parts of one upload, with one worker and with two; stored ≤ twice the size of the file",
    "process/UploadBytes.test.ts"
  ),
  promised(
    "Q9",
    "parts that trickle do not slow the parts of other keys",
    "600 parts at 2 KiB a second; parts of another key: only 200, ≤ 1.5 × their time alone",
    "prove/TricklingParts.prove.ts"
  ),
  promised(
    "Q10",
    "hostile drawings of one key do not delay the thumbnails of other keys",
    "3 and 30 drawings that run into the time limit, requested all the time; the thumbnail of another key ≤ 3 s",
    "prove/HostileDrawings.prove.ts"
  ),
  promised(
    "Q11",
    "keys that flood the service get equal parts",
    "two keys with the same work get 40 to 60 % of it each; a third one: only 200, p99 ≤ 250 ms",
    "prove/TwoFloods.prove.ts"
  ),
  promised(
    "Q12",
    "a key alone on an idle service keeps its rate",
    "≥ 90 % of the rate without shares for the operations of the bench, ≥ 75 % for costly filters; a key that returns after a pause is answered in ≤ 400 ms while 60 connections write",
    "prove/LoneKey.prove.ts"
  ),
  promised(
    "Q13",
    "unknown keys do not slow down the lookups of known ones",
    "200 connections of one address with random keys; first requests of known keys: only 200, p99 ≤ 150 ms",
    "prove/UnknownKeys.prove.ts"
  ),
  promised(
    "Q14",
    "the bytes of a key that no record uses stay within its quota, over all processes",
    "open uploads and unattached files of a day ≤ `UNATTACHED_BYTES_PER_KEY`; above it 429 with Retry-After",
    "http/files/UnattachedBytes.test.ts",
    "process/UploadBytes.test.ts"
  ),
  promised(
    "CL1",
    "no alteration without its event, no event without its alteration",
    "after 20,000 random writes by every path, with kill -9 and ended connections, replaying the log gives every record and relation",
    "prove/ChangeLog.prove.ts",
    "http/changes/LoggedChanges.test.ts",
    "cli/backup/RestoredLog.test.ts"
  ),
  promised(
    "IK1",
    "a request that is repeated with its `Idempotency-Key` is done once",
    "0 duplicates in 5,000 requests with random repetition, at once and after kill -9; the answers are the same",
    "prove/Repetition.prove.ts",
    "http/writes/Idempotency.test.ts",
    "conformance/SafeWrites.test.ts"
  ),
  promised(
    "Q15",
    "bulk requests and plans of one key do not harm other keys",
    "20 connections with bulk requests of 7 MiB, and with such that fail, 6 with plans of 25,000 rows, or of posts of 2 MB, and slow files of two keys, and of twenty; other keys: only 200, reads p99 ≤ 250 ms, writes p99 ≤ 400 ms; RSS ≤ 1 GB",
    "prove/BulkNeighbours.prove.ts"
  ),
  promised(
    "BULK1",
    "bulk is the single operation",
    "random sequences of ≥ 20,000 operations: same end state, statuses, errors, events and totals as one by one",
    "prove/BulkSequences.prove.ts",
    "http/writes/BulkSequences.test.ts"
  ),
  promised(
    "BULK2",
    "bulk is fast",
    "≥ 8,000 locations created and ≥ 6,000 patched a second over two connections, change log included",
    "prove/BulkRates.prove.ts"
  ),
  promised(
    "PLAN1",
    "a plan is applied as it is shown, and quickly",
    "25,000 rows planned ≤ 4 s and applied ≤ 6 s; 100,000 rows within 1 GB; the same file planned again is all unchanged; nothing written when anything fails",
    "prove/Plans.prove.ts",
    "http/writes/plans/Plans.test.ts"
  ),
  promised(
    "VO1",
    "`Prefer: validate-only` has the answer that the write would have, and writes nothing",
    "every write and every error of the contract: the same status and error, and no row of any table differs",
    "conformance/SafeWrites.test.ts"
  ),
  promised(
    "CL2",
    "reading the log does not depend on its length",
    "at 10 million events the first page of the feed and of a history takes ≤ 5 ms at the median",
    "prove/ReadingTheLog.prove.ts"
  ),
  promised(
    "CL3",
    "an altered log is found",
    "changed, removed, inserted and exchanged events in every column; erasures do not break the chain",
    "cli/audit/AuditVerify.test.ts",
    "http/changes/Erasure.test.ts",
    "jobs/Pruning.test.ts"
  ),
  promised(
    "E1",
    "a client that follows `GET /events` or the stream misses no event and receives none twice",
    "0 missed, twice or out of order of 7 followers, with 8 writers, transactions that stay open for seconds, and rollbacks; ≤ 1 s from the answer to the follower; 500 streams take < 100 MB",
    "prove/Followers.prove.ts",
    "wire/EventStreams.test.ts",
    "wire/EventIterators.test.ts"
  ),
  promised(
    "WH1",
    "webhooks keep up with writes, and several processes share the deliveries",
    "≥ 500 deliveries/s to a receiver on the same machine, p50 from commit to arrival ≤ 250 ms; 0 lost when one of two processes is killed three times",
    "prove/Webhooks.prove.ts"
  ),
  promised(
    "WH2",
    "a webhook gets the events of a record in order and at least once, and bad receivers delay no other",
    "order, retries, 32 connections, 410, replay; receivers that fail, hang, redirect, trickle or answer 64 MB",
    "http/webhooks/Deliveries.test.ts",
    "http/webhooks/Receivers.test.ts"
  ),
  promised(
    "WH3",
    "webhooks reach no private address",
    "every spelling of private, local, reserved and embedded addresses; names that change their meaning; 0 connections",
    "services/webhooks/Egress.test.ts"
  ),
  promised(
    "MIR",
    "a mirror built with `delta` equals the lists",
    "0 differences after 20,000 random writes by every path with 8 writers and transactions that stay open, pages read in between",
    "prove/Mirrors.prove.ts",
    "http/changes/Delta.test.ts",
    "http/changes/DeltaDependencies.test.ts"
  ),
  promised(
    "EXP",
    "an export misses no record that stays",
    "0 missed and 0 twice in `waypost export` and in walks by cursor in two other orders, of 20,000 records (`EXPORT_RECORDS`), while 4 writers create, change and delete",
    "prove/Exports.prove.ts",
    "http/lists/Keyset.test.ts"
  ),
  promised(
    "PAST",
    "restore(delete(x)) = x except `editedAt` and addresses, and `?at=` equals what GET answered",
    "0 differences in random sequences over all resources with 8 writers: ≥ 2,000 reads of the past, every record deleted and restored",
    "prove/Past.prove.ts",
    "http/changes/PastRecords.test.ts",
    "http/changes/Restoring.test.ts"
  ),
  promised(
    "CON",
    "the console answers at once, however many records there are",
    "a table of 1,000,000 locations scrolls 100 pages with p95 ≤ 100 ms an answer; start screen usable ≤ 1.5 s, map of 25,000 locations interactive ≤ 1 s and whole ≤ 2 s, a zoom step ≤ 300 ms, medians of 5",
    "prove/Console.prove.ts"
  ),
  promised(
    "R1",
    "a key reads its own writes, also with replicas that lag",
    "100 writes with a replica 5 s behind: 0 reads of the key, or with the position of the write, show an older value; reads of other keys come from the replica",
    "prove/Replicas.prove.ts"
  ),
  promised(
    "R2",
    "a replica that dies, freezes, lags or is promoted fails no read, nor does a primary that is down",
    "only 200 while each happens under load, 503 for writes while there is no primary; a replica beyond `REPLICA_MAX_LAG_SECONDS` is left out within a second; nothing that only a promoted replica has is answered",
    "prove/Replicas.prove.ts"
  ),
  promised(
    "R3",
    "a failover of PostgreSQL loses no acknowledged write and doubles none",
    "Patroni in synchronous mode, its leader killed, frozen and cut off from etcd while 8 clients write: lost 0, double 0, writes resume within 30 s, writers see only 201 and 503 with `Retry-After`, readers only 200",
    "prove/Failover.prove.ts"
  ),
  promised(
    "R4",
    "feed, webhooks, schedules and plans go on after a failover",
    "over the same failovers a follower misses no event and receives none twice, a webhook misses none, a post is published once, a plan made before is applied once",
    "prove/Failover.prove.ts"
  ),
  promised(
    "R5",
    "an upgrade of nodes behind a load balancer fails no request",
    "two nodes of the latest release are replaced by this version, whose migrations change every table, under load; both serve for 10 s: failed 0, lost 0",
    "prove/Upgrade.prove.ts"
  ),
  promised(
    "R6",
    "the image of deploy starts, drains and restarts with a read-only root file system",
    "built by Buildah and run by Podman with PostgreSQL 15 and an S3 server: at most 350 MiB, user 10001, no capabilities; API, files, thumbnails, guides, console and command line work; restarts of two containers under load: failed 0, exit code 0; the objects for Kubernetes are valid by its schemas",
    "deploy/Image.prove.ts",
    "deploy/Kubernetes.prove.ts"
  ),
  promised(
    "R7",
    "a CDN answers for files as the service does",
    "nginx in front: one request of the service per file and format, hit rate ≥ 95 %; ranges exact and in pieces; expired, changed and extended addresses refused; removed files gone within an hour; files answered while the service is down, until their addresses expire",
    "deploy/Cdn.prove.ts"
  ),
  promised(
    "SUP",
    "installed dependencies match the lock file",
    "lock file verified; signatures and known vulnerabilities checked where the registry provides them",
    "threats/Dependencies.prove.ts"
  ),
  promised(
    "LOG",
    "logs hold one event per line and no secret",
    "control characters in every field; every line parses; no key in any line",
    "threats/Logs.test.ts"
  )
]
