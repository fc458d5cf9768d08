import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { connect } from "node:net"
import { Sql } from "../../src/sql/Sql.ts"
import * as PartUrl from "../../src/storage/PartUrl.ts"
import { unknownUuid } from "../support/requests/Requests.ts"
import { mebibyte, sha256, stored } from "../support/requests/UploadRequests.ts"
import { begin, complete, md5, partsOf, pathOf, put, send } from "../support/requests/UploadParts.ts"
import { type Answer, layer as listening, Wire } from "../support/wire/Wire.ts"

const origin = "https://uploads.example"

/** Pages of any origin may read this response and its ETag. */
const assertShared = ({ headers }: Answer, label = "") => {
  assert.strictEqual(headers["access-control-allow-origin"], "*", label)
  assert.include(String(headers["access-control-expose-headers"]).split(", "), "ETag", label)
  assert.isUndefined(headers["access-control-allow-credentials"], label)
}

const assertError = (answer: Answer, status: number, tag: string, label = "") => {
  assert.deepStrictEqual([answer.status, answer.body?._tag], [status, tag], `${label} ${answer.text}`)
  assert.strictEqual(answer.headers["content-type"], "application/json", label)
  assertShared(answer, label)
}

/** The signing key of part URLs by RFC 2104, implemented independently of the service. */
const secret = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const rows = yield* pooled.unsafe<{ readonly key: Buffer }>("select inner_key as key from secrets")
  const key = Buffer.from(rows[0]!.key.map((byte) => byte ^ 0x36))
  return Redacted.make(new Uint8Array(createHmac("sha256", key).update("parts").digest()))
})

layer(listening(), { excludeTestServices: true })("parts of uploads over a socket", (it) => {
  it.effect("parts are accepted with a length, in chunks and after 100-continue, above the limit of JSON bodies", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(7 * mebibyte)
      for (const sent of [{}, { chunked: true }, { headers: { expect: "100-continue" } }] as const) {
        const session = yield* begin(bytes.length)
        const answer = yield* put(session.parts[0]!.url, bytes, sent)
        assert.deepStrictEqual([answer.status, answer.text], [200, ""])
        assert.strictEqual(answer.headers.etag, `"${md5(bytes)}"`)
        assert.isString(answer.headers["x-request-id"])
        assertShared(answer)
        const { body } = yield* complete(session.uuid, [{ partNumber: 1, eTag: answer.headers.etag }])
        const read = yield* Effect.promise(() => fetch(body.data.url).then((response) => response.arrayBuffer()))
        assert.strictEqual(sha256(new Uint8Array(read)), sha256(bytes))
      }
    })
  )

  it.effect("parts are stored as bytes, regardless of their content type and size", () =>
    Effect.gen(function* () {
      const text = Buffer.from(`{"not":"parsed"`)
      for (const type of [
        "application/json",
        "multipart/form-data; boundary=x",
        "text/html; charset=utf-16",
        "nonsense"
      ]) {
        const session = yield* begin(text.length)
        const answer = yield* put(session.parts[0]!.url, text, { headers: { "content-type": type } })
        assert.deepStrictEqual([answer.status, answer.headers.etag], [200, `"${md5(text)}"`], type)
      }
      const session = yield* begin(3)
      assert.strictEqual((yield* put(session.parts[0]!.url, Buffer.alloc(0))).headers.etag, `"${md5(Buffer.alloc(0))}"`)
    })
  )

  it.effect("a part larger than the file is a 413, and none of its bytes are kept", () =>
    Effect.gen(function* () {
      const session = yield* begin(100_000)
      const before = yield* stored
      for (const chunked of [false, true]) {
        const answer = yield* put(session.parts[0]!.url, randomBytes(100_001), { chunked })
        assertError(answer, 413, "PayloadTooLargeError", `chunked: ${chunked}`)
      }
      assert.deepStrictEqual(yield* stored, before)
      assert.deepStrictEqual(yield* partsOf(session.uuid), [])
    })
  )

  it.effect("an interrupted part is discarded, and the earlier part with its number is kept", () =>
    Effect.gen(function* () {
      const { port } = yield* Wire
      const session = yield* begin(mebibyte)
      const path = pathOf(session.parts[0]!.url)
      const first = yield* put(path, randomBytes(1000))
      const before = yield* stored
      for (const lengths of [`Content-Length: ${mebibyte}\r\n\r\n`, "Transfer-Encoding: chunked\r\n\r\n80000\r\n"]) {
        yield* Effect.promise(async () => {
          const socket = connect(port, "127.0.0.1")
          socket.on("error", () => undefined)
          socket.write(`PUT ${path} HTTP/1.1\r\nHost: waypost.test\r\n${lengths}`)
          socket.write(randomBytes(mebibyte / 2))
          await new Promise((resolve) => setTimeout(resolve, 150))
          socket.destroy()
        })
      }
      const after = yield* Effect.repeat(stored, {
        until: (files) => files.length <= before.length,
        schedule: Schedule.spaced("20 millis"),
        times: 200
      })
      assert.deepStrictEqual(after, before)
      const parts = yield* partsOf(session.uuid)
      assert.deepStrictEqual(parts, [{ partNumber: 1, size: 1000, eTag: String(first.headers.etag).slice(1, -1) }])
    })
  )

  it.effect("a part with an altered or expired URL gets an error envelope that other origins can read", () =>
    Effect.gen(function* () {
      const before = yield* stored
      const [one, two] = [yield* begin(20 * mebibyte), yield* begin(20 * mebibyte)]
      const key = yield* secret
      const grant = yield* Effect.fromNullishOr(PartUrl.opened(key, pathOf(one.parts[0]!.url)))
      const [path, other] = [pathOf(one.parts[0]!.url), pathOf(two.parts[0]!.url)]
      const queryOf = (url: string) => url.slice(url.indexOf("?"))
      const now = Math.floor(Date.now() / 1000)
      assert.closeTo(grant.expires - now, 6 * 3600, 60)
      const foreign = Redacted.make(new Uint8Array(32))
      for (const [label, invalidPath] of [
        ["changed", path.replace(/.$/, (last) => (last === "A" ? "B" : "A"))],
        ["another part", path.replace("/1?", "/2?")],
        ["the path of another upload", other.slice(0, other.indexOf("?")) + queryOf(path)],
        ["the query of another upload", path.slice(0, path.indexOf("?")) + queryOf(other)],
        ["a later expiry", path.replace(/expires=\d+/, `expires=${grant.expires + 1}`)],
        ["more bytes", path.replace(/max=\d+/, "max=99999999999")],
        ["no query", path.slice(0, path.indexOf("?"))],
        ["no signature", path.replace(/&signature=.*/, "")],
        ["an empty signature", path.replace(/signature=.*/, "signature=")],
        ["one more parameter", `${path}&a=b`],
        ["another key", PartUrl.signed(foreign, grant.grant, now + 3600)],
        ["an expired URL", PartUrl.signed(key, grant.grant, now - 1)]
      ] as const) {
        assert.notStrictEqual(invalidPath, path, label)
        assertError(yield* put(invalidPath, randomBytes(10)), 403, "InvalidAddressError", label)
      }
      const valid = PartUrl.signed(key, grant.grant, now + 3600)
      assert.strictEqual((yield* put(valid, randomBytes(10))).status, 200)
      const unknown = PartUrl.signed(key, { ...grant.grant, uploadId: unknownUuid }, now + 3600)
      assertError(yield* put(unknown, randomBytes(10)), 404, "FileNotFoundError")
      yield* send("DELETE", `/v1/uploads/${one.uuid}`)
      assertError(yield* put(valid, randomBytes(10)), 404, "FileNotFoundError")
      yield* send("DELETE", `/v1/uploads/${two.uuid}`)
      assert.deepStrictEqual(yield* stored, before)
    })
  )

  it.effect("a CORS preflight allows PUT of parts from every origin, and other methods are rejected", () =>
    Effect.gen(function* () {
      const session = yield* begin(3)
      for (const path of [pathOf(session.parts[0]!.url), `/uploads/${unknownUuid}/1`]) {
        const preflight = yield* send("OPTIONS", path, {
          key: null,
          headers: {
            origin,
            "access-control-request-method": "PUT",
            "access-control-request-headers": "content-type"
          }
        })
        assert.deepStrictEqual([preflight.status, preflight.text], [204, ""])
        assertShared(preflight)
        assert.strictEqual(preflight.headers["access-control-allow-methods"], "PUT")
        assert.include(String(preflight.headers["access-control-allow-headers"]).toLowerCase(), "content-type")
        assert.isAbove(Number(preflight.headers["access-control-max-age"]), 0)
        for (const method of ["GET", "POST", "PATCH", "DELETE"]) {
          const answer = yield* send(method, path, { key: null })
          assert.deepStrictEqual([answer.status, answer.body._tag], [405, "MethodNotAllowedError"], method)
          assert.sameMembers(String(answer.headers.allow).split(", "), ["PUT", "OPTIONS"])
        }
      }
      // Operations require a key, which must not be used in pages.
      const operation = yield* send("OPTIONS", "/v1/uploads/init-multi-part", { key: null, headers: { origin } })
      assert.isUndefined(operation.headers["access-control-allow-origin"])
    })
  )

  it.effect("the limit of JSON bodies also applies to upload operations", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ fileName: "file.bin", fileSize: 3 }).padEnd(mebibyte + 1, " ")
      for (const [method, path] of [
        ["POST", "/v1/uploads/init-multi-part"],
        ["PUT", "/v1/uploads/complete-multi-part"],
        ["POST", `/v1/uploads/${unknownUuid}/parts`]
      ] as const) {
        for (const chunked of [false, true]) {
          const answer = yield* send(method, path, { body, chunked })
          assert.deepStrictEqual([answer.status, answer.body?._tag], [413, "PayloadTooLargeError"], path)
        }
      }
    })
  )
})
