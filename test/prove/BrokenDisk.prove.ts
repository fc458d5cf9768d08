import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import type { Session } from "../support/requests/UploadRequests.ts"
import { own } from "../support/Children.ts"
import type { Called } from "../support/Service.ts"
import { until } from "../support/Until.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"

let running: Running.Running

beforeAll(async () => {
  if (spawnSync("strace", ["-V"]).status !== 0) {
    throw new Error("This proof needs strace, which makes system calls fail; on Debian: apt-get install strace")
  }
  running = await Running.start()
}, 60_000)
afterAll(async () => {
  await running?.[Symbol.asyncDispose]()
}, 60_000)

/** Makes these system calls of the service fail with EIO; returns a function that stops it. */
const breaking = async (calls: string) => {
  const strace = spawn(
    "strace",
    ["-f", "-o", "/dev/null", "-e", `trace=${calls}`, "-e", `inject=${calls}:error=EIO`, "-p", String(running.pid)],
    { stdio: ["ignore", "ignore", "pipe"] }
  )
  let output = ""
  strace.stderr.on("data", (data) => (output += String(data)))
  const { stop } = own(strace)
  await until(`strace is attached: ${output}`, () => / attached/.test(output))
  return () => stop("SIGINT")
}

const bytes = randomBytes(1000)

const initialize = () =>
  running.call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: bytes.length })

const begin = async () => (await initialize()).body.data as Session

const put = async ({ parts }: Session): Promise<Called> => {
  const response = await fetch(parts[0]!.url, { method: "PUT", body: bytes })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === "" ? undefined : JSON.parse(text) }
}

const complete = ({ uuid }: Session, { headers }: Called) =>
  running.call("PUT", "/v1/uploads/complete-multi-part", {
    uuid,
    parts: [{ partNumber: 1, eTag: headers.get("etag") }]
  })

const rows = () =>
  running.sql`select (select count(*)::int from files) as files, (select count(*)::int from assets) as assets`

describe("a broken disk", () => {
  for (const [what, calls] of [
    ["flush", "fsync,fdatasync"],
    ["rename", "rename,renameat,renameat2"]
  ] as const) {
    it(`when the disk fails to ${what}, nothing is acknowledged, and requests succeed once it works again`, async (context) => {
      const known = await begin()
      const { url } = (await complete(known, await put(known))).body.data as { readonly url: string }
      const [begun, arrived] = [await begin(), await begin()]
      const part = await put(arrived)
      const before = await rows()
      const repair = await breaking(calls)
      const refused: Array<Called> = []
      const reads: Array<number> = []
      try {
        refused.push(await initialize(), await put(begun), await complete(arrived, part))
        for (const path of ["/v1/assets", `/v1/uploads/${arrived.uuid}`])
          reads.push((await running.call("GET", path)).status)
        reads.push((await fetch(url)).status)
      } finally {
        await repair()
      }
      await report(context, {
        [`${what}: rejected`]: refused.length,
        acknowledged: refused.filter(({ status }) => status < 300).length
      })
      for (const { body, headers, status, text } of refused) {
        assert.deepStrictEqual(
          [status, body._tag, headers.get("retry-after")],
          [503, "ServiceUnavailableError", "1"],
          text
        )
      }
      assert.deepStrictEqual(reads, [200, 200, 200])
      assert.deepStrictEqual(await rows(), before)
      assert.deepStrictEqual(readdirSync(join(running.folder, "files", "temporary")), [])
      assert.match(running.service.output(), /The disk of the files reports an error/)
      assert.strictEqual((await complete(arrived, part)).status, 200)
      assert.strictEqual((await complete(begun, await put(begun))).status, 200)
    })
  }
})
