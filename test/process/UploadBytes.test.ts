import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { statSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"
import { filesBelow, mebibyte, type Session } from "../support/requests/UploadRequests.ts"

const fileSize = 3 * 8 * mebibyte + 1
// Two of them fit, with a byte of each of the others.
const partBytes = fileSize - 100

/** More than one file may have, and room for fewer files than are begun together. */
const quota = 25 * mebibyte

/** A part of which one byte has arrived; `finish` sends the rest and returns the status. */
const beginPart = async (url: string) => {
  const outgoing = request(url, {
    method: "PUT",
    agent: new Agent(),
    headers: { "content-length": partBytes, expect: "100-continue" }
  })
  const answered = once(outgoing, "response").then(
    ([response]) => {
      const { statusCode } = (response as IncomingMessage).resume()
      outgoing.destroy()
      return statusCode
    },
    // The service closes the connection of a rejected part.
    () => undefined
  )
  outgoing.flushHeaders()
  await once(outgoing, "continue")
  outgoing.write("a")
  const finish = async () => {
    const chunk = Buffer.alloc(mebibyte)
    for (let left = partBytes - 1; left > 0 && !outgoing.destroyed; left -= chunk.length)
      if (!outgoing.write(chunk.subarray(0, left))) await Promise.race([once(outgoing, "drain"), answered])
    if (!outgoing.destroyed) outgoing.end()
    return answered
  }
  return { finish }
}

const bytesBelow = (folder: string) =>
  filesBelow(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0
  )

/** A service with its data folder, and what begins an upload with a key. */
const started = async (workers: string) => {
  const service = await Service.start({
    WORKERS: workers,
    UPLOAD_MAX_BYTES: String(fileSize),
    UNATTACHED_BYTES_PER_KEY: String(quota)
  })
  const begin = (size: number, authorization = service.key) =>
    fetch(`${service.url}/v1/uploads/init-multi-part`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ fileName: "a.bin", fileSize: size })
    })
  return { service, begin, files: join(service.folder, "files") }
}

const sessionOf = async (begun: Response) => ((await begun.json()) as { readonly data: Session }).data

describe("bytes of an upload", () => {
  const services = new Map<string, ReturnType<typeof started>>()
  /** The service with so many workers, which all tests use. */
  const serving = (workers: string) => {
    const service = services.get(workers) ?? started(workers)
    services.set(workers, service)
    return service
  }
  afterAll(async () => {
    for (const start of await Promise.allSettled(services.values())) {
      if (start.status === "fulfilled") await start.value.service[Symbol.asyncDispose]()
    }
  })

  for (const workers of ["1", "2"])
    it(`four parts that begin together store at most twice the size of the file, with WORKERS=${workers}`, async () => {
      const { begin, files } = await serving(workers)
      const session = await sessionOf(await begin(fileSize))
      assert.strictEqual(session.parts.length, 4)
      const parts = await Promise.all(session.parts.map(({ url }) => beginPart(url)))
      const statuses: Array<number | undefined> = []
      for (const { finish } of parts) statuses.push(await finish())
      assert.deepStrictEqual(statuses.slice(0, 2), [200, 200])
      assert.notInclude(statuses.slice(2), 200)
      assert.include(statuses.slice(2), 413)
      await Process.until("the bytes of rejected parts are removed", () => bytesBelow(files) < 2 * fileSize)
      assert.isAtLeast(bytesBelow(files), 2 * partBytes)
    })

  it("files of a key that upload together over two processes have at most its quota of unattached bytes", async () => {
    const { begin, files, service } = await serving("2")
    // A key that has uploaded nothing.
    const { body: created } = await service.call("POST", "/v1/api-keys", {
      name: "Shop",
      permissions: ["create:uploads"]
    })
    const before = bytesBelow(files)
    const begun = await Promise.all(Array.from({ length: 40 }, () => begin(mebibyte, created.data.key)))
    const accepted = begun.filter(({ status }) => status === 201)
    assert.lengthOf(accepted, quota / mebibyte)
    for (const answer of begun) if (!accepted.includes(answer)) assert.strictEqual(answer.status, 429)
    const body = Buffer.alloc(mebibyte)
    const parts = await Promise.all(
      accepted.map(async (answer) => fetch((await sessionOf(answer)).parts[0]!.url, { method: "PUT", body }))
    )
    for (const { status } of parts) assert.strictEqual(status, 200)
    assert.isAtMost(bytesBelow(files) - before, quota + mebibyte)
  })
})
