import { assert, layer } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { pick, randomOf } from "../../support/Random.ts"
import * as TestServer from "../../support/TestServer.ts"
import { create, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import { createWebhook } from "../../support/requests/WebhookRequests.ts"
import { queries, type Resource, resources, seal, worldOf } from "../../support/changes/World.ts"

interface Tree extends Map<string, Tree> {}

const treeOf = (paths: ReadonlyArray<string>): Tree => {
  const root: Tree = new Map()
  for (const path of paths.filter((path) => !paths.some((other) => path.startsWith(`${other}.`)))) {
    let tree = root
    for (const name of path.split(".")) tree = tree.get(name) ?? (tree.set(name, new Map()).get(name) as Tree)
  }
  return root
}

type Json = Readonly<Record<string, unknown>>

const membersOf = (record: Json, tree: Tree): Json =>
  Object.fromEntries(
    Array.from(tree, ([name, inner]) => [name, partOf(record[name], inner)] as const).filter(
      ([, value]) => value !== undefined
    )
  )

/** A model of `fields`: what a whole record has at the paths. */
const partOf = (value: unknown, tree: Tree): unknown => {
  if (tree.size === 0) return value
  if (Array.isArray(value)) return value.map((element) => membersOf(element as Json, tree))
  const members = Predicate.isObject(value) ? membersOf(value, tree) : {}
  return Object.keys(members).length === 0 ? undefined : members
}

const pathsIn = (value: unknown, above: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const own = above.length === 0 ? [] : [above.join(".")]
  if (Array.isArray(value))
    return [...own, ...value.flatMap((element) => (Predicate.isObject(element) ? pathsIn(element, above) : []))]
  if (!Predicate.isObject(value)) return own
  return [...own, ...Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...above, name]))]
}

/** Addresses are signed anew by every answer. */
const unsigned = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, inner) =>
    typeof inner === "string" && inner.startsWith("http://waypost.test/") ? new URL(inner).pathname : inner
  )

const listOf = (resource: Resource, query: string) =>
  send("GET", `/v1/${resource}?limit=500&sortBy=createdAt&${queries[resource]}&${query}`)

layer(TestServer.layer(), { excludeTestServices: true })("fields", (it) => {
  it.effect(
    "an answer has exactly the members that are asked for, on lists, on pages behind a cursor, on reads and on reads of the past",
    () =>
      Effect.gen(function* () {
        const random = randomOf(Number(process.env["TEST_SEED"] ?? 20))
        const world = worldOf(random, "f")
        for (let step = 0; step < 150; step++) yield* world.step()
        yield* seal
        const { body } = yield* send("GET", "/v1/events?limit=1&order=desc")
        const now = body.data[0].occurredAt as string
        for (const resource of resources) {
          const whole = yield* listOf(resource, "")
          assert.strictEqual(whole.status, 200, whole.text)
          const records = whole.body.data as ReadonlyArray<Json>
          const paths = [...new Set(records.flatMap((record) => pathsIn(record)))]
          assert.isAbove(paths.length, 5, resource)
          const selections = [
            ...paths.map((path) => [path]),
            ...Array.from({ length: 6 }, () =>
              Array.from({ length: 2 + Math.floor(random() * 4) }, () => pick(random, paths))
            )
          ]
          for (const [index, fields] of selections.entries()) {
            const query = `fields=${fields.join(",")}`
            const label = `${resource} ${query}`
            const tree = treeOf(["uuid", ...fields])
            const expected = records.map((record) => unsigned(membersOf(record, tree)))
            const listed = yield* listOf(resource, query)
            assert.strictEqual(listed.status, 200, listed.text)
            assert.deepStrictEqual(unsigned(listed.body.data), expected, label)
            assert.deepStrictEqual(listed.body.pagination, whole.body.pagination)
            const record = pick(random, records)
            const one = (at: string) =>
              Effect.gen(function* () {
                const path = `/v1/${resource}/${String(record["uuid"])}?${queries[resource]}&${query}${at}`
                const single = yield* send("GET", path)
                assert.strictEqual(single.status, 200, single.text)
                assert.deepStrictEqual(unsigned(single.body.data), unsigned(membersOf(record, tree)), `${label}${at}`)
              })
            const others = [
              Effect.map(listOf(resource, `after=&${query}`), ({ body }) =>
                assert.deepStrictEqual(unsigned(body.data), expected, label)
              ),
              one(""),
              one(`&at=${now}`)
            ]
            // One member is asked for in a list and, in turn, in one of the other answers.
            yield* Effect.all(fields.length > 1 ? others : [others[index % others.length]!])
          }
        }
      })
  )

  it.effect("lists of relations and of keys take fields", () =>
    Effect.gen(function* () {
      const location = yield* create()
      const { body: made } = yield* send("POST", "/v1/users", {
        body: {
          username: unique("user"),
          email: `${unique("user")}@example.com`,
          firstName: "Anna",
          locations: [location]
        }
      })
      const listed = yield* send("GET", `/v1/locations/${location}/users?fields=firstName`)
      assert.deepStrictEqual(listed.body.data, [{ uuid: made.data.uuid, firstName: "Anna" }])
      const { body: keys } = yield* send("GET", "/v1/api-keys?fields=name&limit=1")
      assert.deepStrictEqual(Object.keys(keys.data[0]), ["uuid", "name"])
      const { body: key } = yield* send("GET", `/v1/api-keys/${keys.data[0].uuid}?fields=permissions`)
      assert.deepStrictEqual(Object.keys(key.data), ["uuid", "permissions"])
      const { body: post } = yield* send("POST", "/v1/posts", {
        body: {
          type: "news",
          translations: [
            { locale: "en", title: "A" },
            { locale: "nl", title: "B" }
          ]
        }
      })
      const answer = yield* send("GET", `/v1/posts/${post.data.uuid}?locale=nl&fields=translations.title`)
      assert.deepStrictEqual(answer.body.data, { uuid: post.data.uuid, translations: [{ title: "B" }] })
      assert.strictEqual(answer.headers.get("content-language"), "nl")
    })
  )

  it.effect("a webhook takes fields, in its list and by itself", () =>
    Effect.gen(function* () {
      const { uuid } = yield* createWebhook({ url: "http://127.0.0.1:4999", types: ["location.*"] })
      const query = "fields=types,resumeCursor"
      const [listed] = (yield* send("GET", `/v1/webhooks?${query}`)).body.data
      const { body } = yield* send("GET", `/v1/webhooks/${uuid}?${query}`)
      assert.deepStrictEqual([Object.keys(body.data), body.data], [["uuid", "types", "resumeCursor"], listed])
    })
  )

  it.effect("a part of a record has an entity tag for If-None-Match, which is no precondition of a write", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ name: "Bakery" })
      const whole = yield* send("GET", `/v1/locations/${uuid}`)
      const everything = Object.keys(whole.body.data).join(",")
      for (const fields of ["name", everything]) {
        const path = `/v1/locations/${uuid}?fields=${fields}`
        const etag = String((yield* send("GET", path)).headers.get("etag"))
        assert.strictEqual((yield* send("GET", path, { headers: { "if-none-match": etag } })).status, 304)
        const body = { name: "Other" }
        const written = yield* send("PATCH", `/v1/locations/${uuid}`, { body, headers: { "if-match": etag } })
        assert.deepStrictEqual(problemsOf(written), [412, "PreconditionFailedError"], fields)
      }
    })
  )

  it.effect("unknown, empty and too many paths answer 400 and name what would be right", () =>
    Effect.gen(function* () {
      for (const [fields, problem] of [
        ["adress.city", "fields unknownMember"],
        ["address.town", "fields unknownMember"],
        ["name.first", "fields unknownMember"],
        ["media.logo.asset", "fields unknownMember"],
        ["", "fields invalidFormat"],
        ["name,,identifier", "fields invalidFormat"],
        ["constructor", "fields unknownMember"],
        ["name'", "fields unknownMember"]
      ] as const) {
        const path = `/v1/locations?fields=${encodeURIComponent(fields)}`
        assert.deepStrictEqual(problemsOf(yield* send("GET", path)), [400, "InvalidRequestError", problem], fields)
      }
      const { body } = yield* send("GET", "/v1/locations?fields=name,adress.city")
      assert.deepStrictEqual(body.issues[0].suggestions, ["address.city"])
      assert.include(body.issues[0].message, 'Unknown field "adress.city"; did you mean address.city?')
      const spaced = yield* send("GET", "/v1/locations?limit=1&fields=name,%20identifier")
      assert.deepStrictEqual(Object.keys(spaced.body.data[0]), ["uuid", "name", "identifier"])
    })
  )

  it.effect("a cursor goes on with other fields", () =>
    Effect.gen(function* () {
      yield* create()
      yield* create()
      const first = yield* send("GET", "/v1/locations?limit=1&after=&fields=name")
      const next = yield* send("GET", `/v1/locations?limit=1&after=${first.body.pagination.next}&fields=identifier`)
      assert.strictEqual(next.status, 200, next.text)
      assert.deepStrictEqual(Object.keys(next.body.data[0]), ["uuid", "identifier"])
    })
  )
})
