import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { text, Timestamp, Uuid } from "../../../src/domain/schema/Fields.ts"
import { LocationCreate, PartialLocation } from "../../../src/domain/locations/Location.ts"
import { defaulted, readOnly, required, writtenAs } from "../../../src/domain/write/Markers.ts"
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
/** The values that the schema does not accept unchanged; expected to be empty. */
const wronglyRejected = (schema: Schema.Codec<unknown, unknown>, ...sent: ReadonlyArray<unknown>) =>
  sent.filter((value) => JSON.stringify(read(schema, value)) !== JSON.stringify(value))

/** The values that the schema accepts; expected to be empty. */
const wronglyAccepted = (schema: Schema.Codec<unknown, unknown>, ...sent: ReadonlyArray<unknown>) =>
  sent.filter((value) => read(schema, value) !== undefined)

const server = { uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", createdAt: "2026-01-31T09:30:00.000Z" }

describe("create shapes", () => {
  it("a create shape requires only the required members", () => {
    assert.deepStrictEqual(wronglyRejected(Create, { name: "a" }), [])
    assert.deepStrictEqual(wronglyAccepted(Create, {}, { note: "a" }, { name: null }, { name: "" }, { name: 1 }), [])
  })

  it("a create shape accepts null for optional members and lists at any depth", () => {
    assert.deepStrictEqual(
      wronglyRejected(
        Create,
        { name: "a", note: null, tags: null, address: null, legal: null, point: null },
        { name: "a", address: { city: null, zip: "1" }, legal: { address: null } },
        { name: "a", legal: { address: { city: null } } },
        { name: "a", tags: [] }
      ),
      []
    )
    assert.deepStrictEqual(
      wronglyAccepted(Create, { name: "a", tags: [null] }, { name: "a", tags: "x" }, { name: "a", address: [] }),
      []
    )
  })

  it("a create shape has the bounds of every member", () => {
    assert.deepStrictEqual(
      wronglyAccepted(
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

  it("a create shape rejects unknown members at any depth", () => {
    assert.deepStrictEqual(
      wronglyAccepted(
        Create,
        { name: "a", nme: "b" },
        { name: "a", address: { town: "b" } },
        { name: "a", legal: { address: { town: "b" } } }
      ),
      []
    )
  })
})

describe("patch shapes", () => {
  it("a patch shape requires no member", () =>
    assert.deepStrictEqual(wronglyRejected(Patch, {}, { address: {} }, { legal: { address: {} } }, { point: {} }), []))

  it("a patch shape accepts null for optional members only", () => {
    assert.deepStrictEqual(
      wronglyRejected(
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
    assert.deepStrictEqual(wronglyAccepted(Patch, { name: null }, { name: "" }, { tags: [null] }), [])
  })

  it("a patch shape is partial at any depth and has the bounds of every member", () => {
    assert.deepStrictEqual(
      wronglyRejected(
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
      wronglyAccepted(
        Patch,
        { name: "a".repeat(11) },
        { address: { zip: "12345" } },
        { legal: { address: { zip: "12345" } } },
        { point: { y: "2" } }
      ),
      []
    )
  })

  it("a patch shape rejects unknown members at any depth", () =>
    assert.deepStrictEqual(wronglyAccepted(Patch, { nme: "b" }, { address: { town: "b" } }, { point: { z: 1 } }), []))
})

describe.each([
  ["create", Create, { name: "a" }],
  ["patch", Patch, {}]
] as const)("read-only members of %s shapes", (kind, schema, minimal) => {
  it(`a ${kind} shape accepts read-only members`, () => {
    for (const [name, value] of Object.entries(server)) assert.isDefined(read(schema, { ...minimal, [name]: value }))
  })

  it(`a ${kind} shape accepts any value of a read-only member`, () => {
    for (const sent of [{ uuid: "x" }, { createdAt: "2026-01-31" }, { createdAt: null }, { createdAt: { at: [1] } }])
      assert.isDefined(read(schema, { ...minimal, ...sent }), JSON.stringify(sent))
  })
})

describe("shapes of a location", () => {
  it("a name and an identifier are required only to create a location", () => {
    assert.deepStrictEqual(wronglyRejected(LocationCreate, { name: "a", identifier: "b" }), [])
    assert.deepStrictEqual(wronglyAccepted(LocationCreate, { name: "a" }, { identifier: "b" }, {}), [])
    assert.deepStrictEqual(wronglyRejected(PartialLocation, {}, { name: "a" }), [])
    assert.deepStrictEqual(wronglyAccepted(PartialLocation, { name: null }, { identifier: null }), [])
  })

  it("a location can be sent back as it was read", () => {
    const record = {
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
    for (const schema of [LocationCreate, PartialLocation]) assert.isDefined(read(schema, record))
  })

  it("the contact of a location has exactly five members", () => {
    const contact = {
      email: "a@example.com",
      website: "https://example.com",
      phone: "112",
      mobile: "112",
      firstName: "A"
    }
    assert.deepStrictEqual(wronglyRejected(PartialLocation, { contact }), [])
    assert.deepStrictEqual(wronglyAccepted(PartialLocation, { contact: { ...contact, lastName: "B" } }), [])
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
    media: readOnly(Schema.Array(text(5)))
  })
  const [Create, Patch] = [Shape.create(Marked), Shape.patch(Marked)]

  it("markers determine which members a shape requires", () => {
    assert.deepStrictEqual(
      wronglyRejected(Create, { lines: [] }, { status: "done", lines: ["a"], owner: { id: "a" } }),
      []
    )
    assert.deepStrictEqual(wronglyAccepted(Create, {}, { lines: null }, { lines: [], status: null }), [])
    assert.deepStrictEqual(wronglyRejected(Patch, {}, { lines: [] }, { status: "done" }, { owner: null }), [])
    assert.deepStrictEqual(wronglyAccepted(Patch, { lines: null }, { status: null }), [])
  })

  it("markers determine what a shape accepts instead of the returned value", () => {
    for (const [schema, minimal] of [
      [Create, { lines: [] }],
      [Patch, {}]
    ] as const) {
      assert.deepStrictEqual(wronglyAccepted(schema, { ...minimal, owner: { id: "a", name: "b" } }), [])
      assert.deepStrictEqual(
        wronglyRejected(schema, { ...minimal, media: { any: "thing" } }, { ...minimal, media: null }),
        []
      )
    }
  })

  it("derived shapes keep the markers of members that writes ignore", () => {
    const ignored = ["uuid", "seenAt", "media"]
    for (const shape of [Marked, Create, Patch]) assert.deepStrictEqual(Shape.readOnlyMembers(shape), ignored)
  })

  it("a later annotation of a field keeps its marker", () =>
    assert.deepStrictEqual(Shape.readOnlyMembers({ fields: { at: readOnly(Timestamp).annotate({ title: "At" }) } }), [
      "at"
    ]))

  it("markers determine the types of the shapes", () => {
    const minimal: typeof Create.Type = { lines: [] }
    const all: typeof Create.Type = { lines: [], status: "done", owner: { id: "a" }, media: 1 }
    const none: typeof Patch.Type = {}
    // @ts-expect-error a required list cannot be left out
    const missing: typeof Create.Type = {}
    // @ts-expect-error a member with a default is not cleared
    const cleared: typeof Patch.Type = { status: null }
    assert.lengthOf([minimal, all, none, missing, cleared], 5)
  })
})
