import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { text, Timestamp, Uuid } from "../../../src/domain/schema/Fields.ts"
import { LocationCreate, PartialLocation } from "../../../src/domain/locations/Location.ts"
import { defaulted, readOnly, required, writtenAs, writtenElsewhere } from "../../../src/domain/write/Markers.ts"
import * as Shape from "../../../src/domain/write/Shape.ts"

const Address = Schema.Struct({ city: Schema.optionalKey(text(10)), zip: Schema.optionalKey(text(4)) }).annotate({
  identifier: "Address"
})
const Thing = Schema.Struct({
  uuid: readOnly(Uuid),
  name: text(10),
  note: Schema.optionalKey(text(10)),
  tags: Schema.Array(text(5)),
  address: Schema.optionalKey(Address),
  legal: Schema.optionalKey(Schema.Struct({ address: Schema.optionalKey(Address) })),
  point: Schema.optionalKey(Schema.Struct({ x: Schema.Finite, y: Schema.Finite })),
  createdAt: readOnly(Timestamp)
})
const Create = Shape.create(Thing)
const Patch = Shape.patch(Thing)

const read = (schema: Schema.Codec<unknown, unknown>, sent: unknown) => {
  const exit = Schema.decodeUnknownExit(schema, { onExcessProperty: "error" })(sent)
  return Exit.isSuccess(exit) ? exit.value : undefined
}
/** Of these values, those the schema does not take as they are; none when all is well. */
const notAccepted = (schema: Schema.Codec<unknown, unknown>, ...sent: ReadonlyArray<unknown>) =>
  sent.filter((value) => JSON.stringify(read(schema, value)) !== JSON.stringify(value))

/** Of these values, those the schema takes; none when all is well. */
const notRefused = (schema: Schema.Codec<unknown, unknown>, ...sent: ReadonlyArray<unknown>) =>
  sent.filter((value) => read(schema, value) !== undefined)

const server = { uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", createdAt: "2026-01-31T09:30:00.000Z" }

describe("the shape that creates a record", () => {
  it("needs the required members and nothing more", () => {
    assert.deepStrictEqual(notAccepted(Create, { name: "a" }), [])
    assert.deepStrictEqual(notRefused(Create, {}, { note: "a" }, { name: null }, { name: "" }, { name: 1 }), [])
  })

  it("takes null for optional members and lists, to any depth", () => {
    assert.deepStrictEqual(
      notAccepted(
        Create,
        { name: "a", note: null, tags: null, address: null, legal: null, point: null },
        { name: "a", address: { city: null, zip: "1" }, legal: { address: null } },
        { name: "a", legal: { address: { city: null } } },
        { name: "a", tags: [] }
      ),
      []
    )
    assert.deepStrictEqual(
      notRefused(Create, { name: "a", tags: [null] }, { name: "a", tags: "x" }, { name: "a", address: [] }),
      []
    )
  })

  it("keeps the bounds of every member", () => {
    assert.deepStrictEqual(
      notRefused(
        Create,
        { name: "a".repeat(11) },
        { name: "a", note: "" },
        { name: "a", address: { zip: "12345" } },
        { name: "a", tags: ["123456"] }
      ),
      []
    )
    assert.deepStrictEqual(read(Create, { name: " a ", address: { city: " b " } }), {
      name: "a",
      address: { city: "b" }
    })
  })

  it("refuses unknown members at any depth", () => {
    assert.deepStrictEqual(
      notRefused(
        Create,
        { name: "a", nme: "b" },
        { name: "a", address: { town: "b" } },
        { name: "a", legal: { address: { town: "b" } } }
      ),
      []
    )
  })
})

describe("the shape that changes a record", () => {
  it("needs nothing", () =>
    assert.deepStrictEqual(notAccepted(Patch, {}, { address: {} }, { legal: { address: {} } }, { point: {} }), []))

  it("takes null for what is optional and not for what is required", () => {
    assert.deepStrictEqual(
      notAccepted(
        Patch,
        { note: null },
        { tags: null },
        { address: null },
        { address: { city: null } },
        { legal: { address: { city: null } } },
        { point: { x: null } }
      ),
      []
    )
    assert.deepStrictEqual(notRefused(Patch, { name: null }, { name: "" }, { tags: [null] }), [])
  })

  it("is partial to any depth, within the bounds", () => {
    assert.deepStrictEqual(
      notAccepted(
        Patch,
        { name: "b" },
        { address: { zip: "1" } },
        { legal: { address: { zip: "1" } } },
        { point: { y: 2 } },
        { tags: ["a"] }
      ),
      []
    )
    assert.deepStrictEqual(
      notRefused(
        Patch,
        { name: "a".repeat(11) },
        { address: { zip: "12345" } },
        { legal: { address: { zip: "12345" } } },
        { point: { y: "2" } }
      ),
      []
    )
  })

  it("refuses unknown members at any depth", () =>
    assert.deepStrictEqual(notRefused(Patch, { nme: "b" }, { address: { town: "b" } }, { point: { z: 1 } }), []))
})

describe.each([
  ["creates", Create, { name: "a" }],
  ["changes", Patch, {}]
] as const)("read-only members of the shape that %s a record", (_verb, schema, least) => {
  it("are accepted", () => {
    for (const [name, value] of Object.entries(server)) assert.isDefined(read(schema, { ...least, [name]: value }))
  })

  it("are refused when malformed or null", () => {
    assert.deepStrictEqual(
      notRefused(schema, { ...least, uuid: "x" }, { ...least, createdAt: "2026-01-31" }, { ...least, createdAt: null }),
      []
    )
  })
})

describe("the shapes of a location", () => {
  it("need a name and an identifier only when it is created", () => {
    assert.deepStrictEqual(notAccepted(LocationCreate, { name: "a", identifier: "b" }), [])
    assert.deepStrictEqual(notRefused(LocationCreate, { name: "a" }, { identifier: "b" }, {}), [])
    assert.deepStrictEqual(notAccepted(PartialLocation, {}, { name: "a" }), [])
    assert.deepStrictEqual(notRefused(PartialLocation, { name: null }, { identifier: null }), [])
  })

  it("a location that was read can be sent back", () => {
    const answered = {
      ...server,
      editedAt: server.createdAt,
      name: "a",
      identifier: "b",
      postalCodes: ["3511 AB"],
      address: { city: "Utrecht", countryCode: "NL" },
      invoice: { email: "a@example.com", address: { zipcode: "1" } },
      coordinates: { latitude: 1, longitude: 2 },
      other: { extraDna1: "x" }
    }
    for (const schema of [LocationCreate, PartialLocation]) assert.isDefined(read(schema, answered))
  })

  it("have a contact of exactly five members", () => {
    const contact = {
      email: "a@example.com",
      website: "https://example.com",
      phone: "112",
      mobile: "112",
      firstName: "A"
    }
    assert.deepStrictEqual(notAccepted(PartialLocation, { contact }), [])
    assert.deepStrictEqual(notRefused(PartialLocation, { contact: { ...contact, lastName: "B" } }), [])
  })
})

describe("markers", () => {
  const sent = Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: text(3) })))
  const Marked = Schema.Struct({
    uuid: readOnly(Uuid),
    seenAt: Schema.optionalKey(readOnly(Timestamp)),
    status: defaulted(Schema.Literals(["draft", "done"])),
    lines: required(Schema.Array(text(5))),
    owner: Schema.Struct({ id: text(3), name: text(3) }).pipe(writtenAs(sent)),
    media: writtenElsewhere(Schema.Array(text(5)))
  })
  const [Create, Patch] = [Shape.create(Marked), Shape.patch(Marked)]

  it("say what a shape needs", () => {
    assert.deepStrictEqual(notAccepted(Create, { lines: [] }, { status: "done", lines: ["a"], owner: { id: "a" } }), [])
    assert.deepStrictEqual(notRefused(Create, {}, { lines: null }, { lines: [], status: null }), [])
    assert.deepStrictEqual(notAccepted(Patch, {}, { lines: [] }, { status: "done" }, { owner: null }), [])
    assert.deepStrictEqual(notRefused(Patch, { lines: null }, { status: null }), [])
  })

  it("say what a shape takes in the place of what is answered", () => {
    for (const [schema, least] of [
      [Create, { lines: [] }],
      [Patch, {}]
    ] as const) {
      assert.deepStrictEqual(notRefused(schema, { ...least, owner: { id: "a", name: "b" } }), [])
      assert.deepStrictEqual(notAccepted(schema, { ...least, media: { any: "thing" } }, { ...least, media: null }), [])
    }
  })

  it("stay on the members of derived shapes, so that writes know what they ignore", () => {
    const ignored = ["uuid", "seenAt", "media"]
    for (const shape of [Marked, Create, Patch]) assert.deepStrictEqual(Shape.readOnlyMembers(shape), ignored)
  })

  it("survive what is said of a field after them", () =>
    assert.deepStrictEqual(Shape.readOnlyMembers({ fields: { at: readOnly(Timestamp).annotate({ title: "At" }) } }), [
      "at"
    ]))

  it("are in the types of the shapes", () => {
    const least: typeof Create.Type = { lines: [] }
    const all: typeof Create.Type = { lines: [], status: "done", owner: { id: "a" }, media: 1 }
    const none: typeof Patch.Type = {}
    // @ts-expect-error a required list cannot be left out
    const missing: typeof Create.Type = {}
    // @ts-expect-error a member with a default is not cleared
    const cleared: typeof Patch.Type = { status: null }
    assert.lengthOf([least, all, none, missing, cleared], 5)
  })
})
