/** Something the service promises, and the tests that prove it. */
export interface Promised {
  readonly id: string
  readonly promise: string
  /** When it counts as kept. */
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

/** Every promise of the service, in the order in which they are proved. */
export const promises: ReadonlyArray<Promised> = [
  promised(
    "K1",
    "every operation gives every status it documents, and nothing else",
    "all declared operation × status pairs seen, each answer decodes with its schema",
    "conformance/Statuses.test.ts",
    "api/Operations.test.ts"
  ),
  promised(
    "K2",
    "the OpenAPI document is valid",
    "redocly, spectral and swagger-parser find no error",
    "conformance/OpenApiJudges.prove.ts"
  ),
  promised(
    "K3",
    "clients made from the document work",
    "openapi-typescript and hey-api clients compile and call the running service",
    "conformance/GeneratedClients.prove.ts"
  ),
  promised(
    "T1",
    "overload is shed, not died of",
    "only 200 and 503 with Retry-After, 200 at least 0.9 of what the limit allows, 0 broken connections, p99 normal within 2 s, RSS ≤ 350 MB",
    "prove/Overload.prove.ts"
  ),
  promised("T2", "10,000 requests, 200 at a time", "10,000 × 200, p99 < 500 ms", "prove/TenThousand.prove.ts"),
  promised(
    "T3",
    "pipelining does not get around the limit",
    "in flight ≤ limit, the rest 503",
    "prove/Pipelining.prove.ts"
  ),
  promised(
    "T4",
    "slow clients starve nobody",
    "others p99 < 200 ms; stalled headers and bodies get a 408 in time",
    "prove/SlowClients.prove.ts",
    "wire/Parser.test.ts",
    "wire/UploadTimes.test.ts"
  ),
  promised("T5", "a large body costs no memory", "413, 415 or 404; memory grows < 30 MB", "prove/LargeBodies.prove.ts"),
  promised(
    "T6",
    "a costly body holds up nobody",
    "other requests wait < 250 ms, no 500",
    "prove/CostlyBodies.prove.ts"
  ),
  promised(
    "T7",
    "nothing leaks",
    "heap grows < 1 MB per 10 s; descriptors as before, database connections within the pool",
    "prove/Soak.prove.ts"
  ),
  promised("D1", "kill -9 loses nothing that was acknowledged", "lost = 0, restart ≤ 3 s", "prove/Kills.prove.ts"),
  promised(
    "D2",
    "kill -9 during uploads leaves no torn file",
    "every file has its bytes, no unfinished upload a row; temporary files are removed once they are an hour old",
    "process/UploadDurability.test.ts",
    "storage/FileCrashes.test.ts"
  ),
  promised(
    "D3",
    "a crash between file and row leaves at most an orphan, which is removed",
    "the orphan goes, no referenced file does",
    "storage/FileCrashes.test.ts",
    "jobs/Sweeper.test.ts",
    "jobs/SweeperRaces.test.ts"
  ),
  promised(
    "D4",
    "SIGTERM fails no request",
    "0 failed among those begun before the close, exit code 0",
    "process/Lifecycle.test.ts",
    "prove/Drain.prove.ts"
  ),
  promised(
    "D5",
    "SIGTERM ends in bounded time, whatever hangs",
    "exit ≤ 22 s after `DRAIN_SECONDS`, 30 s with `WORKERS`; stuck requests get a 503",
    "prove/StuckDrain.prove.ts"
  ),
  promised(
    "D6",
    "nodes can be restarted one after the other without anybody noticing",
    "0 failed requests over 4 restarts",
    "prove/RollingRestart.prove.ts"
  ),
  promised(
    "W1",
    "WORKERS shares the port between processes",
    "every worker answers, a killed one is replaced, SIGTERM fails nothing",
    "process/Workers.test.ts"
  ),
  promised(
    "W2",
    "PgBouncer in transaction mode works",
    "every kind of operation answers as without it",
    "prove/PgBouncer.prove.ts"
  ),
  promised(
    "P1",
    "PostgreSQL may stop and start",
    "meanwhile only 503 within 1 s; answers ≤ 1 s after it is back; nothing lost",
    "prove/DatabaseRestart.prove.ts"
  ),
  promised(
    "P2",
    "PostgreSQL may be killed",
    "as P1, after kill -9 of the postmaster and an immediate stop",
    "prove/DatabaseRestart.prove.ts"
  ),
  promised(
    "P3",
    "connections may be ended at any point",
    "idle: unnoticed; during a query or transaction: retried or 503, never 500",
    "prove/EndedBackends.prove.ts"
  ),
  promised(
    "P4",
    "a database that hangs hangs nobody",
    "every answer within the request timeout + 0.3 s; well again afterwards",
    "prove/FrozenDatabase.prove.ts"
  ),
  promised(
    "P5",
    "waiting for a connection is bounded",
    "503 at once beyond the limit, within the request timeout below it; connections back to normal",
    "prove/ExhaustedPool.prove.ts"
  ),
  promised(
    "P6",
    "deadlocks and serialization failures are retried",
    "no client sees one, at most 5 tries a write",
    "prove/Deadlocks.prove.ts"
  ),
  promised(
    "P7",
    "time limits of the database become 503",
    "503 in the envelope, connections well afterwards",
    "prove/DatabaseTimeouts.prove.ts"
  ),
  promised(
    "P8",
    "a full database disk stops writes only",
    "writes 503, reads 200, well again when freed",
    "prove/FullDatabase.prove.ts"
  ),
  promised(
    "P9",
    "nodes may start at once on an empty database",
    "migrations run once, all get ready",
    "prove/MigrationRace.prove.ts"
  ),
  promised(
    "S1",
    "a full disk keeps no residue",
    "503, nothing left, small files fit",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts"
  ),
  promised(
    "S2",
    "a disk that cannot flush acknowledges nothing",
    "503, no row",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/BrokenDisk.prove.ts"
  ),
  promised(
    "S3",
    "a failing object store is classified in bounded time",
    "≤ 3 attempts, ≤ 12 s, then 503; no row; a download that breaks off never looks whole",
    "storage/S3Faults.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/StalledStore.prove.ts"
  ),
  promised(
    "S4",
    "an abort that races parts leaves nothing",
    "storage use back to 0",
    "storage/FileRaces.test.ts",
    "storage/S3Faults.test.ts",
    "http/files/UploadRaces.test.ts"
  ),
  promised(
    "C1",
    "of two nodes that write one identifier one wins",
    "1 × 2xx, the rest DuplicateIdentifierError, 0 × 500",
    "prove/TwoNodes.prove.ts"
  ),
  promised("C2", "changes of different fields do not overwrite each other", "all there", "prove/LostUpdates.test.ts"),
  promised(
    "C3",
    "deletions, updates and links at once keep references whole",
    "0 orphans, only 2xx, 400, 404, 409, and 412 with If-Match",
    "prove/References.prove.ts"
  ),
  promised("C4", "an upload completed twice is one file", "one uuid", "http/files/UploadRaces.test.ts"),
  promised(
    "C5",
    "a wrong clock of a node spoils nothing",
    "createdAt is the database's, editedAt ≥ createdAt, no live upload swept",
    "prove/WrongClock.prove.ts"
  ),
  promised("F1", "no input makes it fail", "20,000 requests, 0 × 5xx, every answer declared", "prove/Fuzz.prove.ts"),
  promised(
    "F2",
    "filters find exactly what they say",
    "20,000 filters agree with an oracle",
    "prove/FilterOracle.prove.ts",
    "sql/Filtering.test.ts"
  ),
  promised(
    "F3",
    "raw garbage gets a 4xx or a closed connection",
    "70 raw cases and 5,000 mutated requests, alive, memory flat",
    "wire/Parser.test.ts",
    "prove/Garbage.prove.ts"
  ),
  promised(
    "F4",
    "mutated upload bodies leave nothing behind",
    "5,000 mutated part uploads, 4xx or 200, no temporary files",
    "prove/MutatedUploads.prove.ts"
  ),
  promised(
    "F5",
    "the service does what a model of it does",
    "300 sequences × 30 commands agree",
    "prove/Model.prove.ts"
  ),
  promised("B1", "a backup restores whole", "rows and files equal, taken under load", "prove/Backup.prove.ts"),
  promised(
    "B2",
    "the database can go back to a point in time",
    "the rows of that moment exactly",
    "prove/PointInTime.prove.ts"
  ),
  promised(
    "B3",
    "database and files of a backup belong together",
    "no row without its file",
    "prove/Backup.prove.ts",
    "cli/backup/Backup.test.ts"
  ),
  promised("I1", "what must always be true is", "0 violations after the other proofs", "prove/Invariants.test.ts"),
  promised(
    "API1",
    "an id of another kind or key opens nothing",
    "404, database unchanged",
    "threats/ObjectIds.test.ts"
  ),
  promised(
    "API2",
    "keys cannot be guessed, timed or found in logs",
    "header variants 401, Welch t < 4.5, revoked at once, 0 keys in logs",
    "threats/Keys.test.ts",
    "threats/Timing.prove.ts"
  ),
  promised(
    "API3",
    "hidden columns cannot be read, filtered, sorted or searched",
    "a canary in every table never shows, nor do 64 of its and other prefixes by what lists and searches find",
    "threats/HiddenColumns.test.ts"
  ),
  promised(
    "API4",
    "no request is larger or longer than allowed",
    "limits refuse one more; every regular expression is safe",
    "wire/Limits.test.ts",
    "wire/Transport.test.ts",
    "threats/RegularExpressions.prove.ts"
  ),
  promised(
    "API5",
    "every operation asks for its permission",
    "operations × keys matrix",
    "http/transport/Authorization.test.ts",
    "api/Permissions.test.ts"
  ),
  promised(
    "API6",
    "a key has quotas, and every change is in the log",
    "the 51st upload refused; changes told = changes made",
    "http/files/UploadLimits.test.ts",
    "threats/Audit.test.ts"
  ),
  promised(
    "API7",
    "the service connects to its database and storage only",
    "no other connect in a traced run",
    "threats/Egress.prove.ts"
  ),
  promised(
    "API8",
    "errors and headers tell nothing",
    "no stack, SQL, path or DSN in any refusal of an operation's own and in the common ones of every third; headers on every answer",
    "threats/Disclosure.test.ts",
    "wire/Pages.test.ts"
  ),
  promised(
    "API9",
    "there are no undocumented routes",
    "router = OpenAPI document",
    "threats/Inventory.test.ts",
    "api/OpenApi.test.ts"
  ),
  promised(
    "API10",
    "storage and database are not believed blindly",
    "wrong sizes, bytes, hashes, answers and rows are errors, and hide their cause",
    "storage/S3Faults.test.ts",
    "http/files/StorageFaults.test.ts",
    "http/files/UploadRules.test.ts",
    "http/lists/SpoiledRows.test.ts"
  ),
  promised(
    "UP1",
    "names of files cannot leave the folder",
    "200 names; only generated names on disk",
    "threats/FileNames.test.ts",
    "http/files/UploadNames.test.ts"
  ),
  promised(
    "UP2",
    "hostile files stay inert",
    "served as downloads or refused; decoders bounded",
    "threats/HostileFiles.test.ts",
    "http/files/UploadTypes.test.ts",
    "media/Strangers.test.ts"
  ),
  promised(
    "UP3",
    "parts may come in any order, and unfinished uploads end",
    "property over orders; expired bytes gone",
    "threats/PartOrders.test.ts",
    "http/files/UploadSessions.test.ts",
    "jobs/Sweeper.test.ts"
  ),
  promised("ST1", "no torn files", "as D1 to D3", "storage/FileCrashes.test.ts", "storage/FileDisk.test.ts"),
  promised(
    "ST2",
    "storage faults are 503 and reads go on",
    "as S1 to S3",
    "storage/FileDisk.test.ts",
    "http/files/StorageFaults.test.ts",
    "prove/StalledStore.prove.ts"
  ),
  promised("ST3", "files open with a signed, unexpired address only", "403 otherwise", "http/files/Files.test.ts"),
  promised(
    "SUP",
    "dependencies are what the lock file says",
    "lock file checked; signatures and known weaknesses where the registry tells them",
    "threats/Dependencies.prove.ts"
  ),
  promised(
    "LOG",
    "logs hold one event a line and no secret",
    "control characters in every field; every line parses; no key",
    "threats/Logs.test.ts"
  )
]
