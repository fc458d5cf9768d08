import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Sql } from "../../../../src/sql/Sql.ts"
import { bulkResources } from "../../../support/contract/BulkCalls.ts"
import { newTag } from "../../../support/contract/Calls.ts"
import { bulk, create, outcomesOf, upsert, uuidsOf } from "../../../support/requests/BulkRequests.ts"
import { createPost } from "../../../support/requests/PostRequests.ts"
import { createProduct } from "../../../support/requests/ProductRequests.ts"
import { send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"
import { eventually } from "../../../support/Until.ts"

const paths: Readonly<Record<string, string>> = { assetCategories: "asset-categories", metaTags: "meta-tags" }

/** The resources that are upserted, by their paths. */
const resources = Object.entries(bulkResources).flatMap(([group, { create, key, patch }]) =>
  key === undefined ? [] : [{ resource: paths[group] ?? group, create, key, patch }]
)

const read = (resource: string, uuid: string) =>
  Effect.map(send("GET", `/v1/${resource}/${uuid}`), ({ body }) => body.data)

/** The resources whose keys are the same in upper and lower case. */
const foldedKeys = new Set(["users", "groups"])

/** Holds the transactions that create meta tags until a row of the table `released` is there. */
const heldCreations = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* pooled`create table released (value boolean)`
  yield* Effect.addFinalizer(() =>
    Effect.orDie(Effect.andThen(pooled`drop function held() cascade`, pooled`drop table released`))
  )
  yield* pooled.unsafe(`create function held() returns trigger language plpgsql as $$ begin
    while not exists (select from released) loop perform pg_sleep(0.02); end loop;
    return null;
  end $$`)
  yield* pooled.unsafe(`create trigger held after insert on meta_tag_definitions for each row execute function held()`)
})

layer(TestServer.layer(), { excludeTestServices: true })("upsert", (it) => {
  it.effect.each(resources)(
    "of $resource creates by $key with 201 and patches with 200",
    ({ create, key, patch, resource }) =>
      Effect.gen(function* () {
        const { [key]: value, ...data } = yield* create
        const operations = [upsert(value as string, data)]
        const created = yield* bulk(resource, operations)
        assert.deepStrictEqual(outcomesOf(created), ["201"])
        const [uuid] = uuidsOf(created)
        assert.strictEqual((yield* read(resource, uuid!))[key], value)
        // The key may be in the data too.
        const patched = yield* bulk(resource, [upsert(value as string, { ...patch, [key]: value })])
        assert.deepStrictEqual([outcomesOf(patched), uuidsOf(patched)], [["200"], [uuid]])
        const record = yield* read(resource, uuid!)
        for (const [member, sent] of Object.entries(patch)) {
          if (member !== "translations") assert.deepStrictEqual(record[member], sent)
        }
        const unchanged = yield* bulk(resource, [upsert(value as string, {})])
        assert.deepStrictEqual([outcomesOf(unchanged), uuidsOf(unchanged)], [["200"], [uuid]])
        assert.deepStrictEqual(yield* read(resource, uuid!), record)
      })
  )

  it.effect.each(resources)(
    "of $resource with another $key in its data is a 400 of the operation",
    ({ create, key, resource }) =>
      Effect.gen(function* () {
        const [{ [key]: value, ...data }, { [key]: other }] = [yield* create, yield* create]
        const answer = yield* bulk(resource, [upsert(value as string, { ...data, [key]: other })])
        assert.deepStrictEqual(outcomesOf(answer), [`400 InvalidRequestError ${key} notAllowed`])
      })
  )

  it.effect.each(resources)("of $resource compares $key as its unique rule does", ({ create: make, key, resource }) =>
    Effect.gen(function* () {
      const data = yield* make
      const value = String(data[key])
      const isFolded = foldedKeys.has(resource)
      const other = isFolded ? value.toUpperCase() : value
      const { [key]: _, ...rest } = data
      const answer = yield* bulk(resource, [create(data), upsert(other, rest)])
      assert.deepStrictEqual(outcomesOf(answer), ["201", "200"])
      assert.strictEqual(uuidsOf(answer)[1], uuidsOf(answer)[0])
      // The same in a request of its own, and several times in one request.
      const again = yield* bulk(resource, [upsert(other, {}), upsert(value, {}), upsert(other, {})])
      assert.deepStrictEqual(
        [outcomesOf(again), new Set(uuidsOf(again))],
        [["200", "200", "200"], new Set(uuidsOf(answer))]
      )
    })
  )

  it.effect.each(resources)(
    "of $resource writes $key as its data spells it where the unique rule ignores case, and else is a 400",
    ({ create: make, key, resource }) =>
      Effect.gen(function* () {
        const data = yield* make
        const value = String(data[key])
        const spelled = value.toUpperCase()
        const isFolded = foldedKeys.has(resource)
        const answer = yield* bulk(resource, [create(data), upsert(value, { [key]: spelled })])
        assert.match(outcomesOf(answer)[1]!, isFolded ? /^200$/ : /^400 InvalidRequestError/)
        assert.strictEqual((yield* read(resource, uuidsOf(answer)[0]!))[key], isFolded ? spelled : value)
      })
  )

  it.effect("of identifiers distinguishes case, and of usernames takes on the case of the key", () =>
    Effect.gen(function* () {
      const identifier = unique("case")
      const locations = yield* bulk("locations", [
        upsert(identifier, { name: "Lower" }),
        upsert(identifier.toUpperCase(), { name: "Upper" })
      ])
      assert.deepStrictEqual(outcomesOf(locations), ["201", "201"])
      const username = unique("anna")
      const users = yield* bulk("users", [
        upsert(username, { email: `${username}@example.com` }),
        upsert(username.toUpperCase(), { firstName: "Anna" })
      ])
      assert.deepStrictEqual(outcomesOf(users), ["201", "200"])
      assert.deepInclude(yield* read("users", uuidsOf(users)[0]!), {
        username: username.toUpperCase(),
        firstName: "Anna"
      })
    })
  )

  it.effect("patches a record that an operation before it in the request creates, with data that creates none", () =>
    Effect.gen(function* () {
      const [first, second] = [unique("before"), unique("before")]
      const locations = yield* bulk("locations", [
        create({ name: "Branch", identifier: first }),
        upsert(first, { address: { city: "Utrecht" } }),
        upsert(second, { address: { city: "Zeist" } }),
        upsert(second, { name: "Branch" }),
        upsert(second, { address: { city: "Zeist" } })
      ])
      const failed = "400 InvalidRequestError name required"
      assert.deepStrictEqual(outcomesOf(locations), ["201", "200", failed, "201", "200"])
      for (const uuid of [0, 4].map((index) => uuidsOf(locations)[index]!))
        assert.strictEqual((yield* read("locations", uuid)).name, "Branch")
      const username = unique("before")
      const users = yield* bulk("users", [
        create({ username, email: `${username}@example.com` }),
        upsert(username.toUpperCase(), { firstName: "Anna" })
      ])
      assert.deepStrictEqual(outcomesOf(users), ["201", "200"])
    })
  )

  it.effect("normalises the key as it does in data", () =>
    Effect.gen(function* () {
      const identifier = unique("é")
      const answer = yield* bulk("locations", [
        upsert(identifier, { name: "One" }),
        upsert(`  ${identifier.normalize("NFD")} `, { name: "Two", identifier })
      ])
      assert.deepStrictEqual(outcomesOf(answer), ["201", "200"])
    })
  )

  it.effect("an upsert has the errors of a creation without a record, and of a patch with one", () =>
    Effect.gen(function* () {
      const [username, other] = [unique("user"), unique("user")]
      yield* bulk("users", [create({ username, email: `${username}@example.com` })])
      const answer = yield* bulk("users", [
        upsert(other, {}),
        upsert(username, { email: "no address" }),
        upsert(other, { email: `${username}@example.com` }),
        upsert(username, { locations: [] }),
        upsert("", { email: `${other}@example.com` })
      ])
      assert.deepStrictEqual(outcomesOf(answer), [
        "400 InvalidRequestError email required",
        "400 InvalidRequestError email invalidFormat",
        "409 EmailNotUniqueError",
        "400 InvalidRequestError locations unknownMember",
        "400 InvalidRequestError username tooShort"
      ])
    })
  )

  it.effect.each(["independent", "atomic"])(
    "with mode %s patches a record that another request creates at the same time",
    (mode) =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const { key, ...data } = newTag()
        const request = bulk("meta-tags", [upsert(key, data)], { body: { mode } })
        const waiting = (event: string) =>
          eventually(
            `a request waits for ${event}`,
            pooled`select from pg_stat_activity where datname = current_database() and wait_event = ${event}`,
            ({ length }) => length > 0
          )
        yield* heldCreations
        const first = yield* Effect.forkChild(request, { startImmediately: true })
        yield* waiting("PgSleep")
        const second = yield* Effect.forkChild(request, { startImmediately: true })
        yield* waiting("transactionid")
        yield* pooled`insert into released values (true)`
        const answers = yield* Effect.all([Fiber.join(first), Fiber.join(second)])
        assert.deepStrictEqual(answers.map(outcomesOf), [["201"], ["200"]])
        assert.deepStrictEqual(uuidsOf(answers[1]), uuidsOf(answers[0]))
      }).pipe(Effect.scoped)
  )

  it.effect("finds a record that a single request created, also one that is not set-based", () =>
    Effect.gen(function* () {
      const product = yield* createProduct({ identifier: "single-product" })
      const post = yield* createPost({ slug: "single-post" })
      const products = yield* bulk("products", [upsert("single-product", { status: "draft", name: "Flyer" })])
      const posts = yield* bulk("posts", [upsert("single-post", { pinned: true })])
      assert.deepStrictEqual([uuidsOf(products), uuidsOf(posts)], [[product], [post]])
      assert.strictEqual((yield* read("products", product)).name, "Flyer")
    })
  )
})
