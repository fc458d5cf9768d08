import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { breakingChanges, type Document } from "../support/contract/Compatibility.ts"

type Schema = Readonly<Record<string, unknown>>

interface Parts {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly required?: boolean; readonly schema: Schema }>
  readonly body?: Schema
  readonly answer?: Schema
  readonly error?: Schema
  readonly permissions?: ReadonlyArray<string>
}

/** A document of one operation. */
const documentOf = ({ answer = {}, body = {}, error = {}, parameters = [], permissions = [] }: Parts): Document => ({
  paths: {
    "/v1/things": {
      post: {
        parameters,
        requestBody: { required: true, content: { "application/json": { schema: body } } },
        responses: { 201: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } } },
        "x-required-permissions": permissions
      }
    }
  },
  components: { schemas: { Thing: answer, GoneErrorEncoded: error } }
})

const object = (properties: Schema, ...required: ReadonlyArray<string>) => ({ type: "object", properties, required })
const text = { type: "string" }
const words = (...values: ReadonlyArray<string>) => ({ type: "string", enum: values })
const page = { name: "page", schema: { type: "integer", minimum: 1 } }

/** A change, and the change back. */
const changes: ReadonlyArray<
  readonly [label: string, before: Parts, after: Parts, breaks: "forward" | "back" | "both" | "never", message?: RegExp]
> = [
  ["a parameter is added", {}, { parameters: [page] }, "back", /parameter page was removed/],
  ["a parameter becomes required", { parameters: [page] }, { parameters: [{ ...page, required: true }] }, "forward"],
  ["a minimum rises", { body: { type: "integer" } }, { body: { type: "integer", minimum: 1 } }, "forward", /minimum/],
  ["a maximum falls", { body: { ...text, maxLength: 9 } }, { body: { ...text, maxLength: 8 } }, "forward"],
  ["a pattern is added", { body: text }, { body: { ...text, pattern: "^a" } }, "forward"],
  ["a pattern changes", { body: { ...text, pattern: "^b" } }, { body: { ...text, pattern: "^a" } }, "both"],
  ["a request member is added", { body: object({}) }, { body: object({ a: text }) }, "back", /a: .* removed/],
  ["a request member becomes required", { body: object({ a: text }) }, { body: object({ a: text }, "a") }, "forward"],
  ["a word of a request is removed", { body: words("a", "b") }, { body: words("a") }, "forward", /value b/],
  ["a request takes null too", { body: text }, { body: { anyOf: [text, { type: "null" }] } }, "back", /type null/],
  ["a request takes another type", { body: text }, { body: { type: "boolean" } }, "both"],
  ["a request takes fractions", { body: { type: "integer" } }, { body: { type: "number" } }, "back"],
  [
    "the items of a request narrow",
    { body: { type: "array", items: text } },
    { body: { type: "array", items: words("a") } },
    "forward"
  ],
  [
    "a response member becomes absent with a new parameter",
    { answer: object({ a: text }, "a") },
    { parameters: [page], answer: object({ a: { ...text, "x-absent-with": ["page"] } }) },
    "back"
  ],
  [
    "a response member becomes absent with a parameter that there was",
    { parameters: [page], answer: object({ a: text }, "a") },
    { parameters: [page], answer: object({ a: { ...text, "x-absent-with": ["page"] } }) },
    "forward",
    /can be absent now/
  ],
  ["a response member is added", { answer: object({}) }, { answer: object({ a: text }) }, "back", /a: .* removed/],
  [
    "a response member becomes optional",
    { answer: object({ a: text }, "a") },
    { answer: object({ a: text }) },
    "forward"
  ],
  ["a word of a response is added", { answer: words("a") }, { answer: words("a", "b") }, "forward", /value b/],
  [
    "a word is added to an open list",
    { answer: { anyOf: [words("a"), text] } },
    { answer: { anyOf: [words("a", "b"), text] } },
    "never"
  ],
  ["a response can be null", { answer: text }, { answer: { type: ["string", "null"] } }, "forward"],
  ["a member of an error is added", { error: object({}) }, { error: object({ a: text }) }, "back"],
  [
    "an untyped read-only member of a request gets a type",
    { body: object({ a: { readOnly: true } }) },
    { body: object({ a: { ...text, readOnly: true } }) },
    "never"
  ],
  [
    "a member of a request becomes read-only",
    { body: object({ a: {} }) },
    { body: object({ a: { type: "boolean", readOnly: true } }) },
    "forward"
  ],
  [
    "alternatives of a response get a discriminator",
    { answer: { anyOf: [words("a"), { type: "boolean" }] } },
    { answer: { oneOf: [words("a"), { type: "boolean" }], discriminator: { propertyName: "_tag" } } },
    "never"
  ],
  [
    "an integer of a request is of 64 bits",
    { body: { type: "integer" } },
    { body: { type: "integer", format: "int64" } },
    "never"
  ],
  [
    "an inline response becomes a component",
    { answer: object({ a: text }, "a"), error: object({ a: text }, "a") },
    { answer: { $ref: "#/components/schemas/GoneErrorEncoded" }, error: object({ a: text }, "a") },
    "never"
  ],
  ["another permission is needed", {}, { permissions: ["read:things"] }, "forward", /needs read:things too/]
]

describe("compatibility with the released contract", () => {
  it.each(changes.map(([label, before, after, breaks, message]) => ({ label, before, after, breaks, message })))(
    "$label: it breaks clients $breaks",
    ({ after, before, breaks, message }) => {
      const forward = breakingChanges(documentOf(before), documentOf(after))
      const back = breakingChanges(documentOf(after), documentOf(before))
      assert.deepStrictEqual(
        [forward.length > 0, back.length > 0],
        [breaks === "forward" || breaks === "both", breaks === "back" || breaks === "both"],
        JSON.stringify({ forward, back })
      )
      if (message !== undefined) assert.match([...forward, ...back].join("\n"), message)
    }
  )

  it("a removed operation breaks clients, and an added one does not", () => {
    const some = documentOf({})
    const none = { ...some, paths: {} }
    assert.deepStrictEqual(breakingChanges(some, none), ["POST /v1/things: the operation was removed"])
    assert.deepStrictEqual(breakingChanges(none, some), [])
  })

  it("a recursive schema is compared once", () => {
    const tree = object({ children: { type: "array", items: { $ref: "#/components/schemas/Thing" } } })
    assert.deepStrictEqual(breakingChanges(documentOf({ answer: tree }), documentOf({ answer: tree })), [])
  })

  it("openapi.json does not break the clients of the latest release", () => {
    const read = (name: string): Document => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"))
    assert.deepStrictEqual(breakingChanges(read("openapi.released.json"), read("openapi.json")), [])
  })
})
