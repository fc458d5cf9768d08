import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { create, expectError, read, send, unique } from "../../support/requests/Requests.ts"

/** Values at the bounds of model.md, and values just beyond them. */
interface Edge {
  readonly path: string
  readonly valid: ReadonlyArray<unknown>
  readonly invalid: ReadonlyArray<unknown>
}

const text = (path: string, max: number): Edge => ({
  path,
  valid: ["x", "x".repeat(max), "😀".repeat(max), "e\u0301".repeat(max), ` ${"x".repeat(max)} `],
  invalid: ["", " ", "\u00a0", "x".repeat(max + 1), "😀".repeat(max + 1), 1, true, [], {}]
})

const email = (path: string): Edge => ({
  path,
  valid: ["a@b.nl", `${"a".repeat(247)}@b.info`, "É@exämple.nl", "a+b'c@b.c.d"],
  invalid: [`${"a".repeat(248)}@b.info`, "a", "@b.nl", "a@", "a@b", "a@@b.nl", "a@b@c.nl", "a b@c.nl", "a@b..nl", 1]
})

const phone = (path: string): Edge => ({
  path,
  valid: ["112", "+31 (0)30-123.45/67", "1".repeat(32)],
  invalid: ["11", "1".repeat(33), "030 ext 1", "٠٣٠", "+31\t30", 112]
})

const address = (path: string): ReadonlyArray<Edge> => [
  text(`${path}.addressLine1`, 255),
  text(`${path}.addressLine2`, 255),
  text(`${path}.attentionOf`, 255),
  text(`${path}.city`, 120),
  text(`${path}.zone`, 120),
  text(`${path}.zipcode`, 16),
  {
    path: `${path}.countryCode`,
    valid: ["NL", "AX", "ZW"],
    invalid: ["N", "NLD", "UK", "EU", "XX", "ZZ", "12", "", 31]
  }
]

const number = (path: string, bound: number): Edge => ({
  path,
  valid: [0, bound, -bound, 1e-7, -0.1234567, bound - 1e-7],
  invalid: [bound + 1e-7, -bound - 1e-7, bound + 1, 1e-8, 0.12345678, "1", true, [1]]
})

const url = (length: number) => "https://example.com/".padEnd(length, "a")
const codes = (count: number) => Array.from({ length: count }, (_, index) => `${1000 + index}`)

const edges: ReadonlyArray<Edge> = [
  text("name", 255),
  text("identifier", 100),
  {
    path: "postalCodes",
    valid: [[], ["11"], ["x".repeat(16)], ["3511 AB", "a-B"], codes(1000)],
    invalid: [["1"], ["x".repeat(17)], ["a_b"], ["é1"], [""], [null], [11], codes(1001), "1000", { 0: "1000" }]
  },
  ...["address", "legal.address", "invoice.address"].flatMap(address),
  text("invoice.name", 255),
  email("invoice.email"),
  email("contact.email"),
  {
    path: "contact.website",
    valid: ["http://a.nl", "https://a.nl:8080/b?c=d#e", url(2048), "https://münchen.de/ü"],
    invalid: [url(2049), "a.nl", "//a.nl", "/a", "ftp://a.nl", "javascript:alert(1)", "https://", "https:// a.nl", 1]
  },
  phone("contact.phone"),
  phone("contact.mobile"),
  text("contact.firstName", 100),
  number("coordinates.latitude", 90),
  number("coordinates.longitude", 180),
  ...Array.from({ length: 10 }, (_, index) => text(`other.extraDna${index + 1}`, 1000)),
  ...["address", "legal", "legal.address", "invoice", "contact", "coordinates", "other"].map((path) => ({
    path,
    valid: [{}],
    invalid: ["x", 1, true, [], [{}]]
  }))
]

const nest = (path: string, value: unknown): unknown =>
  path.split(".").reduceRight((inner: unknown, member) => ({ [member]: inner }), value)

const at = (record: unknown, path: string): unknown =>
  path.split(".").reduce((inner, member) => (inner as Record<string, unknown> | undefined)?.[member], record)

/** The stored form of a value: text is trimmed and in NFC. */
const normal = (value: unknown) => (typeof value === "string" ? value.normalize("NFC").trim() : value)

layer(TestServer.layer(), { excludeTestServices: true })("Fields of locations", (it) => {
  const start = { coordinates: { latitude: 1, longitude: 1 } }

  it.effect.each([...edges])(
    "$path accepts values within the bounds of the model and rejects others",
    ({ invalid, path, valid }) =>
      Effect.gen(function* () {
        const uuid = yield* create(start)
        const patch = (value: unknown) => send("PATCH", `/v1/locations/${uuid}`, { body: nest(path, value) })
        for (const value of valid) {
          const { status, text } = yield* patch(value)
          assert.strictEqual(status, 200, `${path} ${JSON.stringify(value).slice(0, 60)} ${text.slice(0, 200)}`)
          if (JSON.stringify(value) === "{}") continue
          assert.deepStrictEqual(at(yield* read(uuid), path), normal(value), path)
        }
        const before = yield* read(uuid)
        for (const value of invalid) {
          const body = expectError(
            yield* patch(value),
            400,
            "InvalidRequestError",
            `${path} ${JSON.stringify(value).slice(0, 60)}`
          )
          assert.strictEqual(body.issues[0].in, "body")
          assert.isTrue(`${body.issues[0].path}.`.startsWith(`${path}.`), `${path}: ${body.issues[0].path}`)
        }
        assert.deepStrictEqual(yield* read(uuid), before)
      })
  )

  it.effect("an unknown member of a location is rejected with the nearest known name, at any depth", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const cases = [
        ["nmae", "name", { nmae: "a" }],
        ["legal.address.ctiy", "city", { legal: { address: { ctiy: "a" } } }],
        ["contact.lastName", undefined, { contact: { lastName: "a" } }],
        ["other.extraDna11", "extraDna1", { other: { extraDna11: "a" } }],
        ["Name", "name", { Name: "a" }]
      ] as const
      for (const [path, suggestion, body] of cases) {
        for (const answer of [
          yield* send("PATCH", `/v1/locations/${uuid}`, { body }),
          yield* send("POST", "/v1/locations", { body: { name: "a", identifier: unique(), ...body } })
        ]) {
          assert.strictEqual(answer.status, 400, path)
          assert.deepInclude(answer.body.issues[0], { in: "body", path, code: "unknownMember" })
          if (suggestion !== undefined) assert.include(answer.body.issues[0].suggestions, suggestion)
        }
      }
    })
  )

  it.effect("country codes and postal codes are normalised", () =>
    Effect.gen(function* () {
      const uuid = yield* create({
        address: { countryCode: " nl " },
        postalCodes: ["b2", " 3511 ab ", "a1", "b2", "3511 ab", "A1"]
      })
      const { address, postalCodes } = yield* read(uuid)
      assert.deepStrictEqual(address, { countryCode: "NL" })
      assert.deepStrictEqual(postalCodes, ["b2", "3511 ab", "a1", "A1"])
    })
  )

  const texts = edges.filter(({ valid }) => valid[2] === "😀".repeat(String(valid[1]).length)).map(({ path }) => path)

  it.effect("every text field rejects NUL, control characters and lone surrogates", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      assert.strictEqual(texts.length, 32)
      for (const path of texts) {
        const long = path.startsWith("other.")
        const broken = ["\\u0000", "\\u0007", "\\u001b[31m", "\\u007f", "\\u0085", "\\ud800", "\\udc00\\ud800"]
        for (const escape of long ? [...broken, "\\r"] : [...broken, "\\n", "\\t"]) {
          const raw = JSON.stringify(nest(path, "a?b")).replace("?", escape)
          const { body, status } = yield* send("PATCH", `/v1/locations/${uuid}`, { raw })
          assert.strictEqual(status, 400, `${path} ${escape}`)
          assert.deepInclude(body.issues[0], { in: "body", path })
        }
        const raw = JSON.stringify(nest(path, long ? "line\n\tline" : "\u{1F469}\u200D\u{1F373} ‏שלום"))
        assert.strictEqual((yield* send("PATCH", `/v1/locations/${uuid}`, { raw })).status, 200, path)
      }
    })
  )

  it.effect("a coordinate that overflows, is a string or is malformed is rejected", () =>
    Effect.gen(function* () {
      const uuid = yield* create(start)
      for (const number of ["1e999", "-1e999", `"1"`, "NaN", "0x10", "01"]) {
        const raw = `{"coordinates":{"latitude":${number}}}`
        assert.strictEqual((yield* send("PATCH", `/v1/locations/${uuid}`, { raw })).status, 400, number)
      }
    })
  )
})
