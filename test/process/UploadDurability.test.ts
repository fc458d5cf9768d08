import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { lutimesSync, readdirSync, statSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import postgres from "postgres"
import { afterAll } from "vitest"
import { claimSeconds } from "../../src/repositories/assets/Uploads.ts"
import { filesBelow, mebibyte, type SentPart, sha256 } from "../support/requests/UploadRequests.ts"
import { violations } from "../support/proofs/Invariants.ts"
import { socketOf } from "../support/proofs/Running.ts"
import { brokenIn } from "../support/proofs/BrokenInvariants.ts"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"

const { folder, remove } = Process.migratedFolder()
afterAll(remove)

const inFlight = 8

/** The state of an upload as its client knows it. */
interface Upload {
  readonly uuid: string
  readonly parts: ReadonlyArray<Uint8Array>
  readonly urls: ReadonlyArray<string>
  /** The parts the service has acknowledged. */
  readonly acknowledged: Array<SentPart>
  completed: boolean
}

/** A single part is renamed to the object; every third upload has two parts, which are copied into one. */
const partsOf = (number: number): ReadonlyArray<Uint8Array> =>
  (number % 3 === 0 ? [8 * mebibyte, 1000] : [50_000]).map((size, index) =>
    Buffer.alloc(size, createHash("sha256").update(`${number} ${index}`).digest())
  )

/** A connection for each part, as for each call. */
const alone = { connection: "close" }

const client = (service: Service.Service) => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await service.call(method, path, body)
    assert.isBelow(answer.status, 300, `${method} ${path} ${answer.text}`)
    return answer.body.data
  }
  const begin = async (number: number): Promise<Upload> => {
    const parts = partsOf(number)
    const fileSize = parts.reduce((size, part) => size + part.length, 0)
    const init = { fileName: `${number}.bin`, fileSize, sha256: sha256(Buffer.concat(parts)) }
    const { parts: planned, uuid } = await call("POST", "/v1/uploads/init-multi-part", init)
    const urls = planned.map((part: { readonly url: string }) => part.url)
    return { uuid, parts, urls, acknowledged: [], completed: false }
  }
  const put = async ({ acknowledged, parts }: Upload, partNumber: number, url: string) => {
    const response = await fetch(url, { method: "PUT", headers: alone, body: new Uint8Array(parts[partNumber - 1]!) })
    assert.strictEqual(response.status, 200)
    acknowledged.push({ partNumber, eTag: response.headers.get("etag")! })
  }
  const complete = async ({ acknowledged: parts, uuid }: Upload): Promise<string> =>
    (await call("PUT", "/v1/uploads/complete-multi-part", { uuid, parts })).url
  return { call, begin, put, complete }
}

/** Uploads one file after the other until the service is killed. */
const uploadUntilKilled = async (service: Service.Service, begun: Array<Upload>, numbers: { next: number }) => {
  const { begin, complete, put } = client(service)
  for (;;) {
    const upload = await begin(numbers.next++)
    begun.push(upload)
    for (const [index, url] of upload.urls.entries()) await put(upload, index + 1, url)
    await complete(upload)
    upload.completed = true
  }
}

/** Checks the reported state of an upload after a crash, and completes the upload. */
const finish = async (service: Service.Service, upload: Upload) => {
  const { call, complete, put } = client(service)
  const { parts, status } = await call("GET", `/v1/uploads/${upload.uuid}`)
  if (upload.completed) assert.strictEqual(status, "completed")
  if (status !== "completed") {
    const arrived = new Map((parts as ReadonlyArray<SentPart>).map(({ eTag, partNumber }) => [partNumber, `"${eTag}"`]))
    const isJoined = arrived.get(1) === '"joined"'
    if (isJoined) assert.deepStrictEqual([upload.acknowledged.length, arrived.size], Array(2).fill(upload.parts.length))
    else for (const { eTag, partNumber } of upload.acknowledged) assert.strictEqual(arrived.get(partNumber), eTag)
    const sent = new Set(upload.acknowledged.map(({ partNumber }) => partNumber))
    const missing = upload.urls.map((_, index) => index + 1).filter((number) => !sent.has(number))
    if (missing.length > 0) {
      // The URLs contain the port of the service, which may have changed.
      const fresh = await call("POST", `/v1/uploads/${upload.uuid}/parts`, { partNumbers: missing })
      for (const { partNumber, url } of fresh.parts) await put(upload, partNumber, url)
    }
  }
  const bytes = await fetch(await complete(upload)).then((response) => response.arrayBuffer())
  assert.strictEqual(sha256(new Uint8Array(bytes)), sha256(Buffer.concat(upload.parts)))
}

const objects = join(folder, "files", "objects")
const temporary = join(folder, "files", "temporary")

/** Sends half of a part and never the rest. */
const sendHalf = async (url: string) => {
  const part = request(url, { method: "PUT", headers: { "content-length": 2000 } })
  part.on("error", () => undefined).write(Buffer.alloc(1000))
  await until("half of the part is stored", () =>
    readdirSync(temporary).some((name) => statSync(join(temporary, name), { throwIfNoEntry: false })?.size === 1000)
  )
}

/** Before any upload is continued, exactly the completed uploads have a file, and its bytes are complete. */
const assertFilesComplete = async (uploads: ReadonlyArray<Upload>) => {
  const sql = postgres({ ...(await socketOf(folder)), max: 1, onnotice: () => undefined })
  try {
    const sessions = await sql<ReadonlyArray<{ uuid: string; status: string; known: boolean }>>`
      select u.uuid, u.status, f.uuid is not null as known from upload_sessions u left join files f on f.uuid = u.file_uuid`
    for (const { known, status, uuid } of sessions)
      assert.strictEqual(known, status === "completed", `${uuid} ${status}`)
    const completed = new Set(sessions.filter(({ known }) => known).map(({ uuid }) => uuid))
    for (const { completed: acknowledged, uuid } of uploads) if (acknowledged) assert.isTrue(completed.has(uuid), uuid)
    assert.isBelow(completed.size, uploads.length)
    assert.deepStrictEqual(await violations((statement) => sql.unsafe(statement), objects), [])
    // The claims that the killed process held end as if their time had passed.
    const claims = await sql<ReadonlyArray<{ seconds: number }>>`
      with held as (select uuid, claimed_until from upload_sessions where claimed_until > now())
      update upload_sessions u set claimed_until = now() - interval '1 second' from held where u.uuid = held.uuid
        returning extract(epoch from held.claimed_until - now())::float8 as seconds`
    for (const { seconds } of claims) assert.isAtMost(seconds, claimSeconds)
  } finally {
    await sql.end()
  }
}

/** Ages the temporary files beyond the hour after which they are removed; returns their names. */
const age = () => {
  const leftover = readdirSync(temporary)
  const then = Date.now() / 1000 - 61 * 60
  for (const name of leftover) lutimesSync(join(temporary, name), then, then)
  return leftover
}

describe("kill -9 during uploads", () => {
  it("after kill -9 every file has its bytes, and unfinished uploads continue with the parts that were acknowledged", async (context) => {
    const uploads: Array<Upload> = []
    const numbers = { next: 0 }
    await using service = await Service.start({}, { folder })
    // Some are certainly half-way, whatever the state of the others.
    const { begin, put } = client(service)
    for (const number of [-3, -6, -9]) {
      const upload = await begin(number)
      uploads.push(upload)
      await put(upload, 1, upload.urls[0]!)
      await sendHalf(upload.urls[1]!)
    }
    const working = Promise.allSettled(
      Array.from({ length: inFlight }, () => uploadUntilKilled(service, uploads, numbers))
    )
    const completed = () => uploads.filter((upload) => upload.completed).length
    // Kill it during uploads, not before.
    await until("twelve uploads are complete", () => completed() >= 12)
    service.process.kill("SIGKILL")
    for (const outcome of await working) {
      // Only the kill may end a worker.
      if (outcome.status === "rejected") assert.instanceOf(outcome.reason, TypeError)
    }
    await service.exited
    assert.isAtLeast(completed(), 12)
    assert.isAtLeast(uploads.filter((upload) => !upload.completed && upload.acknowledged.length > 0).length, 3)

    const leftover = age()
    assert.isNotEmpty(leftover)
    await using next = await Service.start({}, { folder })
    await assertFilesComplete(uploads)
    await until("the leftover files are removed", () => !readdirSync(temporary).some((name) => leftover.includes(name)))
    await Promise.all(uploads.map((upload) => finish(next, upload)))
    assert.deepStrictEqual(await brokenIn(context, folder), [])
    await next.stop()
    assert.strictEqual(filesBelow(objects).length, uploads.length)
  })
})
