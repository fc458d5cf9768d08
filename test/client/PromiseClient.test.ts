import { assert, describe, it } from "@effect/vitest"
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import { openFile } from "../../src/client/node/LocalFile.ts"
import * as Http from "../../src/client/promise/Http.ts"
import { createClient, WaypostError } from "../../src/client/promise/PromiseClient.ts"
import { type Response, serverWith } from "./Responses.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const requestId = "trace-me:1"
const written = { _tag: "Success", data: { uuid } }
const notFound = { _tag: "LocationNotFoundError", message: "No such location", uuid, requestId }
const unavailable: Response = [503, { _tag: "ServiceUnavailableError", message: "later", requestId }]
const page = (data: ReadonlyArray<unknown>, total = data.length) => ({
  _tag: "Success",
  data,
  pagination: { limit: 500, page: 1, total, pageCount: 1 }
})

const clientWith = async (...responses: ReadonlyArray<Response>) => {
  const server = await serverWith(responses)
  return { ...server, client: createClient({ url: `${server.url}/`, key: "wp_test" }), [Symbol.dispose]: server.close }
}

const parametersOf = (url: string) => Object.fromEntries(new URL(url, "http://x").searchParams)

describe("promise client", () => {
  it("a list sends the key and its query, and returns the page", async () => {
    using served = await clientWith([200, page([])])
    const { data, pagination } = await served.client.locations.list({
      limit: 2,
      sortOrder: "asc",
      filter: "name:equals:a"
    })
    assert.deepStrictEqual([data, pagination.total], [[], 0])
    const [request] = served.requests
    assert.strictEqual(request!.key, "wp_test")
    assert.strictEqual(new URL(request!.url, "http://x").pathname, "/v1/locations")
    assert.deepStrictEqual(parametersOf(request!.url), { limit: "2", sortOrder: "asc", filter: "name:equals:a" })
  })

  it("a place, a radius and an area are sent as the text of the API", async () => {
    using served = await clientWith([200, page([])])
    await served.client.locations.list({ near: "52.09,5.12", radius: "5km", bounds: "50.7,3.3,53.6,7.2" })
    assert.deepStrictEqual(parametersOf(served.requests[0]!.url), {
      near: "52.09,5.12",
      radius: "5km",
      bounds: "50.7,3.3,53.6,7.2"
    })
  })

  it("a filter of fields is sent in the grammar, and an empty one is not sent", async () => {
    using served = await clientWith([200, page([])])
    await served.client.locations.list({
      filter: {
        name: { contains: 'a,"b' },
        "address.city": "Utrecht",
        "coordinates.latitude": { gte: 51, lt: 52.5 },
        createdAt: { gt: new Date(0) },
        identifier: { in: ["a|b", "c"], not: { exists: false, startsWith: "x" } }
      }
    })
    await served.client.locations.list({ filter: {} })
    const [first, second] = served.requests
    assert.strictEqual(
      parametersOf(first!.url)["filter"],
      [
        String.raw`name:contains:"a,\"b"`,
        'address.city:equals:"Utrecht"',
        'coordinates.latitude:gte:"51"',
        'coordinates.latitude:lt:"52.5"',
        'createdAt:gt:"1970-01-01T00:00:00.000Z"',
        'identifier:in:("a|b"|"c")',
        'identifier:not exists:"false"',
        'identifier:not startsWith:"x"'
      ].join()
    )
    assert.deepStrictEqual(parametersOf(second!.url), {})
  })

  it("fields are joined, and the type of the answer has only what was asked for", async () => {
    const record = { uuid, name: "a", address: { city: "Utrecht" } }
    using served = await clientWith(
      [200, page([record])],
      [200, { _tag: "Success", data: record }],
      [200, page([record])]
    )
    const { data } = await served.client.locations.list({
      limit: 1,
      fields: ["name", "address.city", "media.items.role"]
    })
    const [first] = data
    const city: string | undefined = first!.address?.city
    assert.deepStrictEqual([first!.uuid, first!.name, city], [uuid, "a", "Utrecht"])
    // @ts-expect-error the answer does not have the identifier
    assert.isUndefined(first!.identifier)
    // @ts-expect-error nor another member of the address
    assert.isUndefined(first!.address?.countryCode)
    const one = await served.client.locations.get(uuid, { fields: ["name"] })
    const name: string = one.name
    // @ts-expect-error the answer does not have the city
    assert.deepStrictEqual([name, one.address.city], ["a", "Utrecht"])
    const [all] = await served.client.locations.all({ fields: ["media.items.role"] }).toArray()
    assert.deepStrictEqual([all!.uuid, all!.media], [uuid, undefined as never])
    // @ts-expect-error the path has a mistake
    await served.client.locations.list({ fields: ["adress.city"] }).result()
    assert.deepStrictEqual(
      served.requests.map(({ url }) => parametersOf(url)["fields"]),
      ["name,address.city,media.items.role", "name", "media.items.role", "adress.city"]
    )
  })

  it("lists in a query are joined, and flags are written out", async () => {
    using served = await clientWith([200, page([])], [200, written])
    await served.client.assets.search({ include: ["categories", "metaTags"], category: ["a", "b"] })
    await served.client.assets.delete(uuid, { force: true })
    const [search, deletion] = served.requests
    assert.deepStrictEqual(parametersOf(search!.url), { include: "categories,metaTags", category: "a,b" })
    assert.strictEqual(`${deletion!.method} ${deletion!.url}`, `DELETE /v1/assets/${uuid}?force=true`)
  })

  it("an operation with a required parameter does not compile without its query", async () => {
    using served = await clientWith([200, page([])])
    const { locations, plans, quality } = served.client
    await Promise.all([
      // @ts-expect-error a plan needs the resource
      plans.create([]).result(),
      // @ts-expect-error a postal code is needed
      locations.resolve().result(),
      // @ts-expect-error locales are needed
      quality.coverage().result(),
      // @ts-expect-error a kind is needed
      locations.territories().result()
    ])
    await plans.create([], { resource: "locations" }).result()
    await quality.coverage({ locales: ["nl"] }).result()
    assert.lengthOf(served.requests, 6)
  })

  it("uuids of the path, a body and a precondition are sent", async () => {
    using served = await clientWith([200, written])
    await served.client.locations.update(uuid, { name: "a" }, { ifMatch: '"tag"' })
    const reservation = uuid.toUpperCase()
    await served.client.reservations.cancel(uuid, reservation)
    const [update, cancel] = served.requests
    assert.strictEqual(`${update!.method} ${update!.url}`, `PATCH /v1/locations/${uuid}`)
    assert.strictEqual(update!.headers["if-match"], '"tag"')
    assert.strictEqual(cancel!.url, `/v1/products/${uuid}/reservations/${reservation}/cancel`)
  })

  it("an argument of a path that is not a uuid is an error, and nothing is sent", async () => {
    using served = await clientWith([200, page([])])
    const { access, assets, locations, reservations } = served.client
    const errors = [
      (await access.listUserProducts("..").result()).error,
      (await assets.getMetaTags("..").result()).error,
      (await locations.get("").result()).error,
      (await locations.get(".").result()).error,
      (await locations.get("delta").result()).error,
      (await assets.get("search", { fields: ["uuid"] }).result()).error,
      (await locations.delete(undefined as never).result()).error,
      (await reservations.cancel(uuid, "x/y").result()).error,
      await locations
        .allUsers("..")
        .toArray()
        .then(
          () => undefined,
          (error: unknown) => error as WaypostError
        )
    ]
    for (const error of errors) assert.strictEqual(error?._tag, "InvalidArgumentError")
    assert.strictEqual(
      errors[7]!.message,
      '"x/y" is not a uuid, which the path of POST /v1/products/:uuid/reservations/:reservationUuid/cancel needs'
    )
    assert.lengthOf(served.requests, 0)
  })

  it("a connection that failed is tried again, unless the certificate of the service was rejected", () => {
    const failed = (code: string) => {
      const cause = new Error("fetch failed", { cause: Object.assign(new Error(code), { code }) })
      return Http.isTransient(new WaypostError({ _tag: "ConnectionError", message: "fetch failed" }, { cause }))
    }
    assert.isTrue(failed("ECONNRESET"))
    assert.isFalse(failed("DEPTH_ZERO_SELF_SIGNED_CERT"))
    assert.isFalse(failed("CERT_HAS_EXPIRED"))
  })

  it("a precondition that is undefined is an error, and nothing is written", async () => {
    using served = await clientWith([404, notFound])
    const { etag } = await served.client.locations.get(uuid).result()
    assert.isUndefined(etag)
    // @ts-expect-error the type of ifMatch has no undefined
    const { error } = await served.client.locations.update(uuid, { name: "a" }, { ifMatch: etag }).result()
    assert.strictEqual(error?._tag, "InvalidArgumentError")
    assert.lengthOf(served.requests, 1)
  })

  it("the outcome of an operation in bulk can have every error that it has by itself, or that its request has", async () => {
    const tags = [
      "InvalidRequestError",
      "PayloadTooLargeError",
      "PreconditionFailedError",
      "NotAppliedError",
      "LocationNotFoundError"
    ] as const
    const outcomes = tags.map((_tag, index) => ({ index, status: 400, error: { _tag, message: "no", requestId } }))
    using served = await clientWith([200, { _tag: "Success", data: outcomes, applied: false, counts: { 400: 5 } }])
    const { data } = await served.client.locations.bulk({ operations: [{ op: "delete", uuid }] })
    for (const [index, tag] of tags.entries()) assert.isTrue(data[index]?.error?._tag === tag)
    // @ts-expect-error no operation on a location has this error
    assert.isFalse(data[0]?.error?._tag === "UserNotFoundError")
  })

  it("records with a business key can be upserted, and assets have none", async () => {
    using served = await clientWith([200, { _tag: "Success", data: [], applied: true, counts: {} }])
    await served.client.locations.bulk({ operations: [{ op: "upsert", key: "UTR-001", data: { name: "a" } }] })
    // @ts-expect-error assets have no upsert
    await served.client.assets.bulk({ operations: [{ op: "upsert", key: "a", data: {} }] })
    await served.client.assets.bulk({ operations: [{ op: "create", data: { fileUuid: uuid } }] })
    assert.lengthOf(served.requests, 3)
  })

  it("a precondition or an idempotency key that no header can have is an error, and nothing is sent", async () => {
    using served = await clientWith([200, written])
    const { locations } = served.client
    const errors = [
      (await locations.create({ name: "a", identifier: "a" }, { idempotencyKey: "order-€4711" }).result()).error,
      (await locations.update(uuid, { name: "a" }, { ifMatch: '"tag"\n"tag"' }).result()).error
    ]
    assert.deepStrictEqual(
      errors.map((error) => [error?._tag, error?.message]),
      [
        ["InvalidArgumentError", "idempotencyKey has characters that no header can have"],
        ["InvalidArgumentError", "ifMatch has characters that no header can have"]
      ]
    )
    assert.lengthOf(served.requests, 0)
  })

  it("an error has the members that the service sends, its status, and the code of the caller as its stack", async () => {
    using served = await clientWith([404, notFound])
    const error = await served.client.locations.get(uuid).then(
      () => assert.fail("Expected an error"),
      (error: unknown) => error
    )
    assert.instanceOf(error, WaypostError)
    assert.isTrue(error instanceof WaypostError && error._tag === "LocationNotFoundError" && error.uuid === uuid)
    assert.deepInclude(error as object, { _tag: "LocationNotFoundError", status: 404, requestId })
    const [header, frame] = String((error as Error).stack).split("\n")
    assert.strictEqual(header, "LocationNotFoundError: No such location")
    assert.include(frame, "PromiseClient.test.ts")
    assert.notInclude((error as Error).stack, "effect/")
  })

  it("an error has the name that the service sends as a member", async () => {
    const taken = { _tag: "DuplicateGroupNameError", message: "taken", name: "Zuid", requestId }
    using served = await clientWith([400, taken])
    const { error } = await served.client.groups.create({ name: "Zuid" }).result()
    assert.isTrue(error?._tag === "DuplicateGroupNameError" && error.name === "Zuid")
    assert.match(String(error?.stack), /^DuplicateGroupNameError: taken\n/)
  })

  it("a result is the error of the operation or its data with the entity tag, and rejects never", async () => {
    using served = await clientWith([404, notFound], [200, { _tag: "Success", data: { uuid } }, { etag: '"1"' }])
    const { error } = await served.client.locations.get(uuid).result()
    assert.isTrue(error?._tag === "LocationNotFoundError" && error.uuid === uuid)
    const { data, etag } = await served.client.locations.get(uuid).result()
    assert.deepStrictEqual([data?.uuid, etag], [uuid, '"1"'])
  })

  it("a result has the text of a warning about a write that succeeded", async () => {
    using served = await clientWith([200, written, { warning: '299 - "Not restored: groups 2"' }], [200, written])
    const { data, warning } = await served.client.locations.restore(uuid, {}).result()
    assert.deepStrictEqual([data?.uuid, warning], [uuid, "Not restored: groups 2"])
    assert.isUndefined((await served.client.locations.restore(uuid, {}).result()).warning)
  })

  it("a PATCH is repeated without a key until the service is available, a POST that takes no key is not repeated", async () => {
    using served = await clientWith(unavailable, unavailable, [200, written], unavailable)
    await served.client.locations.update(uuid, { name: "a" })
    const { error } = await served.client.apiKeys.create({ name: "a", permissions: ["read:locations"] }).result()
    assert.strictEqual(error?._tag, "ServiceUnavailableError")
    assert.deepStrictEqual(
      served.requests.map(({ headers, method }) => [method, headers["idempotency-key"]]),
      ["PATCH", "PATCH", "PATCH", "POST"].map((method) => [method, undefined])
    )
  })

  it("a DELETE and a write with ifMatch are repeated with one Idempotency-Key, where the operation takes one", async () => {
    using served = await clientWith(unavailable, [200, written], unavailable, [200, written], unavailable, [
      200,
      written
    ])
    await served.client.locations.delete(uuid)
    await served.client.locations.updateUsers(uuid, { users: [] }, { ifMatch: '"tag"' })
    await served.client.uploads.abort(uuid)
    const keys = served.requests.map(({ headers }) => headers["idempotency-key"])
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
    assert.match(String(keys[2]), /^[0-9a-f]{32}$/)
    assert.notStrictEqual(keys[2], keys[0])
    assert.deepStrictEqual([keys[1], keys[3], keys[4], keys[5]], [keys[0], keys[2], undefined, undefined])
  })

  it("the revocation of a key is repeated without an Idempotency-Key, so that it is done in parts", async () => {
    using served = await clientWith(unavailable, [200, written], [200, written])
    await served.client.apiKeys.revoke(uuid, { descendants: true })
    await served.client.apiKeys.revoke(uuid, {}, { idempotencyKey: "stolen-7" })
    assert.deepStrictEqual(
      served.requests.map(({ headers }) => headers["idempotency-key"]),
      [undefined, undefined, "stolen-7"]
    )
  })

  it("a POST is repeated with one Idempotency-Key, and the next has another", async () => {
    const inProgress: Response = [409, { _tag: "IdempotencyInProgressError", message: "later", requestId }]
    using served = await clientWith(unavailable, inProgress, [201, written], [201, written], [201, written])
    const body = { name: "a", identifier: "a" }
    assert.strictEqual((await served.client.locations.create(body)).uuid, written.data.uuid)
    await served.client.locations.create(body)
    await served.client.locations.create(body, { idempotencyKey: "import-7" })
    const keys = served.requests.map(({ headers }) => headers["idempotency-key"])
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
    assert.deepStrictEqual(keys.slice(1, 3), [keys[0], keys[0]])
    assert.notStrictEqual(keys[3], keys[0])
    assert.strictEqual(keys[4], "import-7")
  })

  it("a request is repeated after the time that the service asks for, unless that is long", async () => {
    const limited = (seconds: number): Response => [
      429,
      { _tag: "RateLimitExceededError", message: "slow", retryAfterSeconds: seconds, requestId },
      { "retry-after": String(seconds) }
    ]
    const closed = { _tag: "ServiceUnavailableError", message: "closed", requestId }
    const hour = 3_600_000
    const sent = Date.now()
    const inAnHour = { "retry-after": new Date(sent + hour).toUTCString() }
    using served = await clientWith(limited(1), [200, written], limited(3600), [503, closed, inAnHour])
    const began = performance.now()
    await served.client.locations.update(uuid, { name: "a" })
    assert.isAtLeast(performance.now() - began, 950)
    const { error } = await served.client.locations.update(uuid, { name: "a" }).result()
    assert.isTrue(error?._tag === "RateLimitExceededError" && error.retryAfter === 3600)
    const until = await served.client.locations.update(uuid, { name: "a" }).result()
    // The header has whole seconds.
    assert.isAtMost(until.error!.retryAfter!, 3600)
    assert.isAtLeast(until.error!.retryAfter!, (sent + hour - Date.now()) / 1000 - 1)
    assert.lengthOf(served.requests, 4)
  })

  it("an answer of a proxy, an unreachable service and a URL that is none have errors of their own", async () => {
    using served = await clientWith([200, "<html>"], [404, "<html>"])
    const tagOf = async (url: string) => {
      const { error } = await createClient({ url, key: "wp_" }).locations.get(uuid).result()
      return [error?._tag, error?.message]
    }
    assert.deepStrictEqual(await tagOf(served.url), [
      "UnexpectedResponseError",
      `${served.url}/v1/locations/${uuid} answered with status 200 and no answer of Waypost: <html>`
    ])
    assert.strictEqual((await tagOf(served.url))[0], "UnexpectedResponseError")
    const [tag, message] = await tagOf("http://127.0.0.1:9")
    assert.strictEqual(tag, "ConnectionError")
    assert.include(message, "http://127.0.0.1:9/v1/locations/")
    for (const url of ["localhost", "user:word@localhost"]) {
      assert.deepStrictEqual(await tagOf(url), [
        "ConnectionError",
        '"localhost" is not a URL such as https://waypost.example.com'
      ])
    }
  })

  it("a key that no header can have and a URL with a password are errors that show neither", async () => {
    const errorOf = async (url: string, key: string) => {
      const { error } = await createClient({ url, key }).locations.get(uuid).result()
      return [error?._tag, `${error?.stack} ${JSON.stringify(error)}`]
    }
    const [key, password] = [
      await errorOf("http://127.0.0.1:9", "wp_s€cret"),
      await errorOf("http://me:s3cr3t@x.nl", "wp_")
    ]
    assert.deepStrictEqual([key[0], password[0]], ["InvalidArgumentError", "ConnectionError"])
    assert.notInclude(key[1], "s€cret")
    assert.notInclude(password[1], "s3cr3t")
  })

  it("an aborted call ends with AbortedError", async () => {
    using served = await clientWith([503, unavailable[1], { "retry-after": "30" }])
    const { error } = await served.client.locations.list({}, { signal: AbortSignal.timeout(100) }).result()
    assert.strictEqual(error?._tag, "AbortedError")
  })

  it("a call whose signal is aborted before calls no fetch and ends with AbortedError", async () => {
    let calls = 0
    const fetch = () => Promise.reject(new Error(`Call ${++calls}`))
    const { locations } = createClient({ url: "http://127.0.0.1:9", key: "wp_test", fetch })
    const { error } = await locations.delete(uuid, { signal: AbortSignal.abort() }).result()
    assert.deepStrictEqual([error?._tag, calls], ["AbortedError", 0])
  })

  it("an iteration whose signal is aborted ends with AbortedError, also before records that are read already", async () => {
    const events = { _tag: "Success", data: [{ id: "e1" }, { id: "e2" }], cursor: "c", more: false }
    using served = await clientWith([200, page([{ uuid: "l1" }, { uuid: "l2" }])], [200, events])
    const { client } = served
    const seen: Array<unknown> = []
    const read = async (recordsOf: (signal: AbortSignal) => AsyncIterable<unknown>) => {
      const controller = new AbortController()
      for await (const record of recordsOf(controller.signal)) {
        seen.push(record)
        controller.abort()
      }
    }
    for (const records of [
      (signal: AbortSignal) => client.locations.all({}, { signal }),
      (signal: AbortSignal) => client.events.follow({}, { signal })
    ]) {
      const error = await read(records).catch((cause: unknown) => cause)
      assert.isTrue(error instanceof WaypostError && error._tag === "AbortedError")
    }
    assert.deepStrictEqual(seen, [{ uuid: "l1" }, { id: "e1" }])
  })

  it("an asset is created with its file as the key, and by a resumed upload anew if the rejection before is kept", async () => {
    const completed: Response = [
      200,
      { _tag: "Success", data: { status: "completed", fileUuid: uuid, numberOfParts: 1, partSize: 1, parts: [] } }
    ]
    const rejected: Response = [400, { _tag: "InvalidAssetCategoriesError", message: "no", invalid: ["a"], requestId }]
    const reused: Response = [422, { _tag: "IdempotencyKeyReusedError", message: "other", requestId }]
    using served = await clientWith(completed, rejected, [201, written], completed, reused, rejected)
    const file = new File(["a"], "a.txt")
    const asset = await served.client.assets.upload(file, { resume: uuid, categories: ["a"] })
    assert.deepStrictEqual(asset, { uuid, fileUuid: uuid })
    const { error } = await served.client.assets.upload(file, { resume: uuid, categories: ["a"] }).result()
    assert.strictEqual(error?._tag, "InvalidAssetCategoriesError")
    const keys = served.requests.map(({ headers }) => headers["idempotency-key"])
    assert.deepStrictEqual([keys[1], keys[4]], [uuid, uuid])
    assert.match(String(keys[2]), /^[0-9a-f]{32}$/)
    assert.match(String(keys[5]), /^[0-9a-f]{32}$/)
  })

  it("a file of more than 4 GiB is uploaded with its size and its last bytes", async () => {
    const size = 2 ** 32 + 1
    const folder = mkdtempSync(join(tmpdir(), "waypost-client-"))
    const path = join(folder, "film.bin")
    // It takes no space but for its end.
    const file = openSync(path, "w")
    writeSync(file, "end", size - 3)
    closeSync(file)
    // The parts before have arrived.
    const partSize = 2 ** 32 - 4
    const parts = [{ partNumber: 1, size: partSize, eTag: "a" }]
    const open = { uuid, status: "open", fileName: "film.bin", fileSize: size, numberOfParts: 2, partSize, parts }
    const address = { partNumber: 2, url: "" }
    const begun: Response = [200, { _tag: "Success", data: { ...open, parts: [address] } }]
    const renewed: Response = [200, { _tag: "Success", data: { parts: [address] } }]
    const completed: Response = [200, { _tag: "Success", data: { fileUuid: uuid, url: "" } }]
    const put: Response = [200, "", { etag: '"b"' }]
    const resumed: ReadonlyArray<Response> = [
      [200, { _tag: "Success", data: open }],
      renewed,
      put,
      completed,
      [201, written]
    ]
    using served = await clientWith(begun, put, completed, [201, written], ...resumed)
    address.url = `${served.url}/part`
    try {
      await served.client.assets.upload(await openFile(path))
      await served.client.assets.upload(await openFile(path), { resume: uuid })
      const [init, part, ...others] = served.requests
      assert.deepInclude(JSON.parse(init!.body), { fileName: "film.bin", fileSize: size })
      for (const { body, headers } of [part!, others[4]!])
        assert.deepStrictEqual([body, headers["content-length"]], ["\0\0end", "5"])

      const content = await openFile(path)
      assert.strictEqual(await content.slice(-3).text(), "end")
      assert.strictEqual(await content.slice(-4, -1).text(), "\0en")
      assert.deepStrictEqual(new Uint8Array(await content.slice(0, 2).arrayBuffer()), new Uint8Array(2))
      assert.strictEqual(content.slice(3, 2).size, 0)
      assert.strictEqual(await content.slice(size).text(), "")
      truncateSync(path, size - 1)
      const error = await content.slice(0, 1).text().catch(String)
      assert.include(error, "has changed")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("a file that changed since it was opened is an UnreadableSourceError, and none of it is sent", async () => {
    const folder = mkdtempSync(join(tmpdir(), "waypost-client-"))
    using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
    const path = join(folder, "a.txt")
    writeFileSync(path, "before")
    let received = 0
    const storage = createServer((request) => request.on("data", (chunk: Buffer) => (received += chunk.length)))
    using _storage = { [Symbol.dispose]: () => storage.close() }
    await once(storage.listen(0, "127.0.0.1"), "listening")
    const { port } = storage.address() as AddressInfo
    const parts = [{ partNumber: 1, url: `http://127.0.0.1:${port}/part` }]
    using served = await clientWith([
      201,
      { _tag: "Success", data: { uuid, numberOfParts: 1, partSize: 6, parts, requiredHeaders: {} } }
    ])
    const change = () => writeFileSync(path, "and after")
    const { error } = await served.client.assets.upload(await openFile(path), { onStart: change }).result()
    assert.deepStrictEqual(
      [error?._tag, error?.message],
      ["UnreadableSourceError", "The file cannot be read, or has changed since it was opened"]
    )
    assert.strictEqual(received, 0)
    assert.lengthOf(served.requests, 1)
  })

  it("a file that changes while a part is sent is an UnreadableSourceError, and the part is not sent again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "waypost-client-"))
    using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
    const path = join(folder, "film.bin")
    const size = 64 * 1024 ** 2
    writeFileSync(path, "")
    // It takes no space.
    truncateSync(path, size)
    let puts = 0
    const storage = createServer((request) => {
      puts++
      request.once("data", () => truncateSync(path, size - 1))
    }).listen(0, "127.0.0.1")
    using _storage = { [Symbol.dispose]: () => storage.close() }
    await once(storage, "listening")
    const { port } = storage.address() as AddressInfo
    const parts = [{ partNumber: 1, url: `http://127.0.0.1:${port}/part` }]
    using served = await clientWith([
      201,
      { _tag: "Success", data: { uuid, numberOfParts: 1, partSize: size, parts, requiredHeaders: {} } }
    ])
    const { error } = await served.client.assets.upload(await openFile(path)).result()
    assert.deepStrictEqual([error?._tag, puts, served.requests.length], ["UnreadableSourceError", 1, 1])
  })

  it("all records of a list are read, oldest first, and the next page only when it is needed", async () => {
    const row = (n: number) => ({ uuid: `u${n}`, createdAt: `2026-01-0${n}T00:00:00.000Z` })
    const part = (data: ReadonlyArray<unknown>, next?: string) => ({
      _tag: "Success",
      data,
      pagination: { limit: 500, ...(next === undefined ? {} : { next }) }
    })
    using served = await clientWith([200, part([row(1), row(2)], "c2")], [200, part([row(3)])])
    const seen: Array<string> = []
    for await (const location of served.client.locations.all({ filter: "name:contains:a" })) {
      seen.push(location.uuid)
      assert.lengthOf(served.requests, location.uuid === "u3" ? 2 : 1)
    }
    assert.deepStrictEqual(seen, ["u1", "u2", "u3"])
    const common = { limit: "500", total: "false", sortBy: "createdAt", sortOrder: "asc", filter: "name:contains:a" }
    assert.deepStrictEqual(
      served.requests.map(({ url }) => parametersOf(url)),
      [
        { ...common, after: "" },
        { ...common, after: "c2" }
      ]
    )
  })

  it("the pages of a delta are read to its end, each with the cursor of the one before", async () => {
    const part = (cursor: string, more: boolean) => ({ _tag: "Success", data: [{ uuid, deleted: true }], cursor, more })
    using served = await clientWith([200, part("b", true)], [200, part("c", false)])
    const cursors: Array<string> = []
    for await (const { cursor, data } of served.client.locations.deltaPages("a")) {
      assert.deepStrictEqual(data, [{ uuid, deleted: true }])
      cursors.push(cursor)
    }
    assert.deepStrictEqual(cursors, ["b", "c"])
    assert.deepStrictEqual(
      served.requests.map(({ url }) => url),
      ["/v1/locations/delta?after=a", "/v1/locations/delta?after=b"]
    )
  })

  it("the pages of a delta without a cursor are those from its begin, and an error ends them", async () => {
    using served = await clientWith([410, { _tag: "CursorExpiredError", message: "gone", requestId }])
    const read = async () => {
      for await (const { cursor } of served.client.users.deltaPages()) assert.fail(cursor)
    }
    const error = await read().catch((cause: unknown) => cause)
    assert.instanceOf(error, WaypostError)
    assert.strictEqual(error._tag, "CursorExpiredError")
    assert.strictEqual(served.requests[0]!.url, "/v1/users/delta")
  })

  it("records that are asked for behind a page that fails are at the end, and a later request reads the page again", async () => {
    const gone = { _tag: "InvalidFilterError", message: "wrong", requestId }
    using served = await clientWith(
      [400, gone],
      [200, { _tag: "Success", data: [{ uuid }], pagination: { limit: 500 } }]
    )
    const iterator = served.client.locations.all()[Symbol.asyncIterator]()
    const results = await Promise.allSettled(Array.from({ length: 3 }, () => iterator.next()))
    assert.deepStrictEqual(
      results.map((result) => (result.status === "rejected" ? "failed" : result.value.done)),
      ["failed", true, true]
    )
    assert.lengthOf(served.requests, 1)
    assert.deepStrictEqual((await iterator.next()).value, { uuid })
  })

  it("records, events and pages of a delta that are asked for at the same time come once each, in order", async () => {
    const part = (uuids: ReadonlyArray<string>, next?: string) => ({
      _tag: "Success",
      data: uuids.map((uuid) => ({ uuid })),
      pagination: { limit: 500, ...(next === undefined ? {} : { next }) }
    })
    const log = (data: ReadonlyArray<string>, cursor: string, more: boolean) => ({
      _tag: "Success",
      data: data.map((id) => ({ id })),
      cursor,
      more
    })
    const take = async (source: AsyncIterable<unknown>, count: number) => {
      const iterator = source[Symbol.asyncIterator]()
      const results = await Promise.all(Array.from({ length: count }, () => iterator.next()))
      return results.map(({ done, value }) => (done === true ? "end" : value))
    }
    using list = await clientWith([200, part(["u1", "u2"], "c2")], [200, part(["u3"])])
    assert.deepStrictEqual(await take(list.client.locations.all(), 5), [
      { uuid: "u1" },
      { uuid: "u2" },
      { uuid: "u3" },
      "end",
      "end"
    ])
    using events = await clientWith([200, log(["e1", "e2"], "b", true)], [200, log(["e3", "e4"], "c", false)])
    assert.deepStrictEqual(await take(events.client.events.follow(), 4), [
      { id: "e1" },
      { id: "e2" },
      { id: "e3" },
      { id: "e4" }
    ])
    using delta = await clientWith([200, log(["d1"], "b", true)], [200, log(["d2"], "c", false)])
    const pages = [
      { data: [{ id: "d1" }], cursor: "b", more: true },
      { data: [{ id: "d2" }], cursor: "c", more: false }
    ]
    assert.deepStrictEqual(await take(delta.client.locations.deltaPages(), 3), [...pages, "end"])
    for (const { requests } of [list, events, delta]) assert.lengthOf(requests, 2)
  })

  it("the result of a call with an invalid date or a body that is no JSON is an InvalidArgumentError", async () => {
    using served = await clientWith([200, page([])])
    const { locations } = served.client
    const body = { name: "a", identifier: "a", metaTags: { size: 1n } }
    const results = [
      await locations.list({ filter: { createdAt: { gte: new Date("yesterday") } } }).result(),
      await locations.create(body).result()
    ]
    for (const { error } of results) {
      assert.strictEqual(error?._tag, "InvalidArgumentError")
      assert.match(error!.message, /^The arguments cannot be sent: /)
      assert.instanceOf(error!.cause, Error)
    }
    assert.lengthOf(served.requests, 0)
  })

  it("the cause of an AbortedError is the reason of the signal, also when the request was under way", async () => {
    const controller = new AbortController()
    const reason = new DOMException("The time is over", "TimeoutError")
    const fetch = () => {
      controller.abort(reason)
      return new Promise<never>(() => undefined)
    }
    const { locations } = createClient({ url: "http://127.0.0.1:9", key: "wp_test", fetch })
    const { error } = await locations.list({}, { signal: controller.signal }).result()
    assert.strictEqual(error?._tag, "AbortedError")
    assert.strictEqual(error?.cause, reason)
  })

  it("an upload of a stream or an iterable that is aborted stops reading it", async () => {
    const { assets } = createClient({ url: "http://127.0.0.1:9", key: "wp_test" })
    const chunk = new Uint8Array(1)
    /** Reads a source without an end, whose call is aborted when it gives its third chunk, and waits until it is closed. */
    const aborted = async (
      sourceOf: (onChunk: () => void, close: () => void) => ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
    ) => {
      const controller = new AbortController()
      const closed = Promise.withResolvers<void>()
      let chunks = 0
      const onChunk = () => {
        if (++chunks === 3) controller.abort()
      }
      const source = sourceOf(onChunk, closed.resolve)
      const { error } = await assets.upload(source, { fileName: "a.txt", signal: controller.signal }).result()
      await closed.promise
      return error?._tag
    }
    const stream = (onChunk: () => void, cancel: () => void) => {
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        await setImmediate()
        onChunk()
        controller.enqueue(chunk)
      }
      return new ReadableStream<Uint8Array>({ pull, cancel })
    }
    const iterable = async function* (onChunk: () => void, close: () => void) {
      try {
        for (;;) {
          await setImmediate()
          onChunk()
          yield chunk
        }
      } finally {
        close()
      }
    }
    assert.deepStrictEqual([await aborted(stream), await aborted(iterable)], ["AbortedError", "AbortedError"])
  })

  it("a redirect of a request is an error that names the right address, and is not followed", async () => {
    const moved = (location: string): Response => [301, "", { location }]
    using served = await clientWith(moved("https://waypost.test/base/v1/locations"), moved("/login?next=%2Fv1"))
    const { locations } = served.client
    const errors = [
      (await locations.create({ name: "a", identifier: "a" }).result()).error,
      (await locations.list().result()).error
    ]
    assert.deepStrictEqual(
      errors.map((error) => [error?._tag, error?.status]),
      [
        ["UnexpectedResponseError", 301],
        ["UnexpectedResponseError", 301]
      ]
    )
    assert.include(errors[0]!.message, `${served.url}/v1/locations redirects to https://waypost.test/base, and`)
    assert.include(errors[1]!.message, `redirects to ${served.url}/login, and`)
    assert.deepStrictEqual(
      served.requests.map(({ method, url }) => `${method} ${url}`),
      ["POST /v1/locations", "GET /v1/locations"]
    )
  })

  it("a redirect of a part of an upload is followed, as the storage may have another address for it", async () => {
    const address = { partNumber: 1, url: "" }
    const begun = { uuid, numberOfParts: 1, partSize: 1, parts: [address], requiredHeaders: {} }
    using served = await clientWith(
      [201, { _tag: "Success", data: begun }],
      [307, "", { location: "/elsewhere" }],
      [200, "", { etag: '"a"' }],
      [200, { _tag: "Success", data: { fileUuid: uuid, url: "" } }],
      [201, written]
    )
    address.url = `${served.url}/part`
    await served.client.assets.upload(new File(["a"], "a.txt"))
    assert.deepStrictEqual(
      served.requests.slice(1, 3).map(({ body, method, url }) => [method, url, body]),
      [
        ["PUT", "/part", "a"],
        ["PUT", "/elsewhere", "a"]
      ]
    )
  })

  it("new addresses for the parts of an upload are asked for again while the service fails for a moment", async () => {
    const address = { partNumber: 1, url: "" }
    const begun = { uuid, numberOfParts: 1, partSize: 1, parts: [address], requiredHeaders: {} }
    using served = await clientWith(
      [201, { _tag: "Success", data: begun }],
      [403, ""],
      unavailable,
      unavailable,
      [200, { _tag: "Success", data: { parts: [address] } }],
      [200, "", { etag: '"a"' }],
      [200, { _tag: "Success", data: { fileUuid: uuid, url: "" } }],
      [201, written]
    )
    address.url = `${served.url}/part`
    await served.client.assets.upload(new File(["a"], "a.txt"))
    const renewal = `POST /v1/uploads/${uuid}/parts`
    assert.deepStrictEqual(
      served.requests.slice(1, 6).map(({ method, url }) => `${method} ${url}`),
      ["PUT /part", renewal, renewal, renewal, "PUT /part"]
    )
  })

  it("errors have the URL of the request without its query, which can have a signature or values of a filter", async () => {
    const address = { partNumber: 1, url: "" }
    const begun = { uuid, numberOfParts: 1, partSize: 1, parts: [address], requiredHeaders: {} }
    const initialized: Response = [201, { _tag: "Success", data: begun }]
    using served = await clientWith([200, "<html>"], initialized, [400, "<Error/>"], initialized, [200, ""])
    address.url = `${served.url}/part?X-Amz-Signature=s3cr3t`
    const { assets, users } = served.client
    const file = new File(["a"], "a.txt")
    const nowhere = createClient({ url: "http://127.0.0.1:6000", key: "wp_test" })
    const errors = [
      (await users.list({ filter: { email: "s3cr3t@example.com" } }).result()).error,
      (await assets.upload(file).result()).error,
      (await assets.upload(file).result()).error,
      (await nowhere.users.list({ filter: { email: "s3cr3t@example.com" } }).result()).error
    ]
    const urls = [
      `${served.url}/v1/users`,
      `${served.url}/part`,
      `${served.url}/part`,
      "http://127.0.0.1:6000/v1/users"
    ]
    for (const [index, error] of errors.entries()) {
      assert.deepInclude(error as object, { url: urls[index] })
      assert.notInclude(inspect(error, { depth: null }), "s3cr3t")
    }
  })

  it("following the log hands out the cursor of each page once its events are taken, also of a page without events", async () => {
    const part = (ids: ReadonlyArray<string>, cursor: string) => ({
      _tag: "Success",
      data: ids.map((id) => ({ id })),
      cursor,
      more: false
    })
    const parts = [part([], "b"), part(["e1", "e2"], "c"), part([], "c"), part(["e3"], "d")]
    using served = await clientWith(...parts.map((body): Response => [200, body]))
    const seen: Array<string> = []
    const onCursor = async (cursor: string) => {
      await setImmediate()
      seen.push(`${cursor} before request ${served.requests.length + 1}`)
    }
    for await (const { id } of served.client.events.follow({ after: "a", types: ["webhook.*"] }, { onCursor })) {
      seen.push(id)
      if (id === "e3") break
    }
    assert.deepStrictEqual(seen, ["b before request 2", "e1", "e2", "c before request 3", "e3"])
  })

  it("following the log ends with the error of onCursor, and hands out the same cursor when it goes on", async () => {
    const part = { _tag: "Success", data: [], cursor: "b", more: false }
    using served = await clientWith([200, part], [200, { ...part, data: [{ id: "e1" }] }])
    const seen: Array<string> = []
    const onCursor = (cursor: string) => {
      if (seen.push(cursor) === 1) throw new Error("The disk is full")
    }
    const iterator = served.client.events.follow({}, { onCursor })[Symbol.asyncIterator]()
    assert.include(String(await iterator.next().catch((error: unknown) => error)), "The disk is full")
    assert.deepStrictEqual((await iterator.next()).value, { id: "e1" })
    assert.deepStrictEqual(seen, ["b", "b"])
  })
})
