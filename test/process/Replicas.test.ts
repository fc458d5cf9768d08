import { assert, describe, it } from "@effect/vitest"
import type * as Database from "../support/proofs/Database.ts"
import * as Replication from "../support/proofs/Replication.ts"
import { until } from "../support/Until.ts"

/** How many statements of clients a server has run. */
const readsOf = async (server: Database.Database) => {
  const [row] = await server.query<{ readonly commits: string }>(
    "select xact_commit::text as commits from pg_stat_database where datname = current_database()"
  )
  return Number(row!.commits)
}

describe("replicas", () => {
  it("reads of records, lists, searches and histories come from the replica; writes and keys do not", async () => {
    await using replication = await Replication.start()
    await using replica = await replication.standby()
    await using service = await replication.serving([replica])
    const uuid = await service.create("/v1/locations", { name: "Bakkerij 3", identifier: "B-3" })
    await until("a replica answers", async () =>
      Replication.isOfReplica(await service.call("GET", `/v1/locations/${uuid}`))
    )
    const before = await readsOf(replica)
    for (const path of [
      "",
      `/${uuid}`,
      "?filter=name:contains:akkerij",
      `/${uuid}/history`,
      `/${uuid}/usages`,
      "/delta"
    ]) {
      const answer = await service.call("GET", `/v1/locations${path}`)
      assert.deepStrictEqual([answer.status, Replication.isOfReplica(answer)], [200, true], path)
    }
    for (const path of ["/v1/api-keys", "/v1/events", "/v1/me"]) {
      const answer = await service.call("GET", path)
      assert.deepStrictEqual([answer.status, Replication.isOfReplica(answer)], [200, false], path)
    }
    await until("the statements are counted", async () => (await readsOf(replica)) >= before + 6)
    const malformed = await service.call("GET", "/v1/locations", undefined, { "waypost-position": "yesterday" })
    assert.deepStrictEqual([malformed.status, malformed.body.issues[0].path], [400, "waypost-position"])
  })
})
