import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { create, expectError, read, send, unique } from "../../support/requests/Requests.ts"
import { property } from "../../support/Runs.ts"

const addressFields = ["addressLine1", "addressLine2", "attentionOf", "city", "zone", "zipcode"]
const dna = Array.from({ length: 10 }, (_, index) => `other.extraDna${index + 1}`)

/** Every leaf of a location, with three valid values each. */
const leaves: Readonly<Record<string, readonly [unknown, unknown, unknown]>> = {
  name: ["a", "b", "c"],
  postalCodes: [["1000"], ["2000", "1000"], []],
  locale: ["nl", "en-GB", "zh-Hant-TW"],
  "coordinates.latitude": [1.5, -0.0000001, 90],
  "coordinates.longitude": [2.5, 179.9999999, -180],
  "contact.website": ["https://a.nl", "https://b.nl/?q=é", "http://c.nl"],
  ...Object.fromEntries(
    ["address", "legal.address", "invoice.address"].flatMap((path) => [
      [`${path}.countryCode`, ["NL", "BE", "DE"]] as const,
      ...addressFields.map((field) => [`${path}.${field}`, ["a 1", `"q" \\ 'x'`, "é 😀"]] as const)
    ])
  ),
  ...Object.fromEntries(["invoice.email", "contact.email"].map((path) => [path, ["a@b.nl", "B@b.nl", "é@b.nl"]])),
  ...Object.fromEntries(["contact.phone", "contact.mobile"].map((path) => [path, ["112", "+31 30", "(030) 1"]])),
  ...Object.fromEntries(["invoice.name", "contact.firstName", ...dna].map((path) => [path, ["x", "$1 %_ {}", "null"]]))
}
const paths = Object.keys(leaves)

type Tree = { [member: string]: unknown }

const put = (tree: Tree, path: string, value: unknown): Tree => {
  const members = path.split(".")
  const last = members.pop()!
  const parent = members.reduce((inner, member) => (inner[member] ??= {}) as Tree, tree)
  parent[last] = value
  return tree
}

const treeOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).reduce<Tree>((tree, [path, value]) => put(tree, path, value), {})

/** Every leaf of a record as its JSON. */
const flat = (tree: object, prefix = ""): Record<string, string> =>
  Object.assign(
    {},
    ...Object.entries(tree).map(([member, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? flat(value as object, `${prefix}${member}.`)
        : { [prefix + member]: JSON.stringify(value) }
    )
  )

const change = Schema.Struct({ path: Schema.Literals(paths), value: Schema.Literals([0, 1, 2, 3]) })

layer(TestServer.layer(), { excludeTestServices: true })("Writes of locations", (it) => {
  it.effect.prop(
    "a patch of any set of members leaves all other members unchanged, byte for byte",
    [Schema.Array(change)],
    ([changes]) =>
      Effect.gen(function* () {
        const first = Object.fromEntries(paths.map((path) => [path, leaves[path]![0]]))
        const uuid = yield* create(treeOf(first))
        const before = flat(yield* read(uuid))
        // Value 3 clears the member; required members and coordinate pairs are never cleared.
        const chosen = Object.fromEntries(
          changes.map(({ path, value }) => [path, /^(?:name|coordinates)/.test(path) && value === 3 ? "skip" : value])
        )
        const sent = Object.fromEntries(
          Object.entries(chosen)
            .filter(([, value]) => value !== "skip")
            .map(([path, value]) => [path, value === 3 ? null : leaves[path]![value as 0 | 1 | 2]])
        )
        const { status } = yield* send("PATCH", `/v1/locations/${uuid}`, { body: treeOf(sent) })
        assert.strictEqual(status, 200)
        const expected = { ...before }
        for (const [path, value] of Object.entries(sent)) {
          if (value !== null) expected[path] = JSON.stringify(value)
          else if (path === "postalCodes") expected[path] = "[]"
          else delete expected[path]
        }
        const { editedAt, ...after } = flat(yield* read(uuid))
        const { editedAt: editedBefore, ...rest } = expected
        assert.deepStrictEqual(after, rest)
        const changed = Object.keys(sent).some((path) => before[path] !== after[path])
        assert.strictEqual(editedAt! > editedBefore!, changed)
      }),
    property(60)
  )

  it.effect("a hundred concurrent patches of one member each are all kept", () =>
    Effect.gen(function* () {
      const uuids = [yield* create(), yield* create(), yield* create()]
      // A single coordinate is rejected.
      const single = paths.filter((path) => !path.startsWith("coordinates."))
      const patches = uuids.flatMap((uuid) => single.map((path) => ({ uuid, path })))
      assert.isAtLeast(patches.length, 100)
      const answers = yield* Effect.forEach(
        patches,
        ({ path, uuid }) => send("PATCH", `/v1/locations/${uuid}`, { body: put({}, path, leaves[path]![1]) }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
      for (const uuid of uuids) {
        const record = flat(yield* read(uuid))
        for (const path of single) assert.strictEqual(record[path], JSON.stringify(leaves[path]![1]), path)
      }
    })
  )

  it.effect("of fifty concurrent creations with one identifier exactly one succeeds", () =>
    Effect.gen(function* () {
      const identifier = unique("race")
      const body = { name: "Race", identifier }
      const answers = yield* Effect.replicateEffect(send("POST", "/v1/locations", { body }), 50, { concurrency: 50 })
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      for (const response of answers.filter(({ status }) => status !== 201)) {
        expectError(response, 400, "DuplicateIdentifierError")
      }
    })
  )

  it.effect("of 25 creations and 25 renames to one identifier exactly one succeeds, and no other record changes", () =>
    Effect.gen(function* () {
      const identifier = unique("race")
      const others = yield* Effect.replicateEffect(create({ name: "Before" }), 25, { concurrency: 5 })
      const answers = yield* Effect.all(
        [
          ...others.map((uuid) => send("PATCH", `/v1/locations/${uuid}`, { body: { identifier, name: "After" } })),
          ...others.map(() => send("POST", "/v1/locations", { body: { name: "After", identifier } }))
        ],
        { concurrency: 50 }
      )
      assert.strictEqual(answers.filter(({ status }) => status < 300).length, 1)
      assert.strictEqual(answers.filter(({ body }) => body._tag === "DuplicateIdentifierError").length, 49)
      const { body } = yield* send("GET", "/v1/locations?filter=name:equals:After")
      assert.strictEqual(body.pagination.total, 1)
      assert.strictEqual(body.data[0].identifier, identifier)
    })
  )

  it.effect("deletes concurrent with patches each return 200 or 404, and the record is deleted", () =>
    Effect.gen(function* () {
      const uuids = yield* Effect.replicateEffect(create(), 10, { concurrency: 5 })
      const answers = yield* Effect.forEach(
        uuids.flatMap((uuid) => [uuid, uuid, uuid, uuid]),
        (uuid, index) =>
          index % 4 === 2
            ? send("DELETE", `/v1/locations/${uuid}`)
            : send("PATCH", `/v1/locations/${uuid}`, { body: { other: { extraDna1: `${index}` } } }),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(
        [...new Set(answers.map(({ status }) => status))].filter((s) => s !== 404),
        [200]
      )
      for (const uuid of uuids) assert.strictEqual((yield* send("GET", `/v1/locations/${uuid}`)).status, 404)
    })
  )
})
