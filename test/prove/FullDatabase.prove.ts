import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { spawnSync } from "node:child_process"
import { chownSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnavailable, slowest } from "./Responses.ts"

const megabytes = 48

let database: Database.Database
let service: Service
let disk: string

const mount = (...parameters: ReadonlyArray<string>) => {
  const { status, stderr } = spawnSync("mount", parameters, { encoding: "utf8" })
  if (status !== 0) {
    throw new Error(
      `A small disk could not be mounted, so this promise cannot be checked: ${stderr.trim()}. ` +
        "Run it as root, in a container with CAP_SYS_ADMIN."
    )
  }
}

beforeAll(async () => {
  database = await Database.make()
  disk = join(database.folder, "disk")
  mkdirSync(disk)
  mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk)
  const space = join(disk, "space")
  mkdirSync(space)
  Option.map(database.account, ({ gid, uid }) => chownSync(space, uid, gid))
  // All tables are on the small disk. The write-ahead log is not, because PostgreSQL does not run without it.
  await database.query(`create tablespace small location '${space}'`)
  await database.query("create database waypost tablespace small")
  service = await start({ DATABASE_URL: database.url.replace(/postgres$/, "waypost") })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  // The server has open files on the disk, so unmount lazily; the folder can be removed afterwards.
  if (disk !== undefined) spawnSync("umount", ["-l", disk])
  await database?.remove()
}, 60_000)

const post = (identifier: string) => service.call("POST", "/v1/locations", { name: "Full", identifier })

const freeBytes = () => {
  const { bavail, bsize } = statfsSync(disk)
  return bavail * bsize
}

/** Creates records until a request fails. */
const fill = async (name: string) => {
  const written: Array<string> = []
  for (let index = 0; index < 5000; index++) {
    const answers: ReadonlyArray<readonly [string, Answer]> = await Promise.all(
      [0, 1, 2, 3].map(async (part) => {
        const identifier = `${name}-${index}-${part}`
        return [identifier, await post(identifier)] as const
      })
    )
    written.push(...answers.filter(([, { status }]) => status === 201).map(([identifier]) => identifier))
    const refused = answers.map(([, answer]) => answer).filter(({ status }) => status !== 201)
    if (refused.length > 0) return { refused, written }
  }
  throw new Error("The disk did not fill up")
}

describe("a full database disk", () => {
  it("a full database disk rejects writes with 503, serves reads, and accepts writes once space is freed", async (context) => {
    const kept = await service.create("/v1/locations", { name: "Full", identifier: "kept" })
    const ballast = join(disk, "ballast")
    writeFileSync(ballast, Buffer.alloc(freeBytes()))
    const { refused, written } = await fill("filled")
    const reads = await Promise.all(
      Array.from({ length: 10 }, () => [
        service.call("GET", `/v1/locations/${kept}`),
        service.call("GET", "/v1/locations?limit=500&sortBy=identifier"),
        service.call("GET", "/v1/locations?filter=identifier:startsWith:fill"),
        service.call("GET", "/v1/me")
      ]).flat()
    )
    await sleep(500)
    const stillRefused = (await fill("more")).refused
    rmSync(ballast)
    const began = performance.now()
    const recovered = await Database.until("a write succeeds again", async () => {
      const answer = await post(`again-${performance.now()}`)
      return answer.status === 201 && performance.now() - began
    })
    const { body } = await service.call("GET", "/v1/locations?filter=identifier:startsWith:filled&limit=1")
    await report(context, {
      "written until full": written.length,
      "writes rejected": refused.length + stillRefused.length,
      "reads failed": reads.filter(({ status }) => status !== 200).length,
      "slowest read ms": slowest(reads),
      "recovery ms": recovered
    })
    for (const answer of [...refused, ...stillRefused]) assertUnavailable(answer)
    assert.deepStrictEqual(
      reads.filter(({ status }) => status !== 200),
      []
    )
    assert.match(database.log(), /could not extend file .*No space left on device/)
    assert.strictEqual(body.pagination.total, written.length)
    assert.isAtMost(recovered, 2000)
  })
})
