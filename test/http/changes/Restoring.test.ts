import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { Sql } from "../../../src/sql/Sql.ts"
import {
  pathOf,
  read,
  type Resource,
  resources,
  seal,
  whole,
  withoutAddresses,
  worldOf
} from "../../support/changes/World.ts"
import { randomOf } from "../../support/Random.ts"
import { createAsset, createCategory, createMetaTag, fileRow } from "../../support/requests/AssetRequests.ts"
import { createPost, patchPost, readPost } from "../../support/requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createProduct,
  createUser,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { create, expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const restore = (resource: Resource, uuid: string, body: unknown = {}, more: object = {}) =>
  send("POST", `${pathOf(resource, uuid)}/restore`, { body, ...more })
const remove = (resource: Resource, uuid: string) =>
  send("DELETE", `${pathOf(resource, uuid)}${resource === "assets" ? "?force=true" : ""}`)

/** The events of a record, oldest first. */
const history = (resource: Resource, uuid: string) =>
  Effect.map(
    Effect.andThen(seal, send("GET", `${pathOf(resource, uuid)}/history?order=asc&limit=500`)),
    ({ body }) => body.data as ReadonlyArray<{ readonly id: string; readonly type: string }>
  )

layer(TestServer.layer(), { excludeTestServices: true })("Restorations", (it) => {
  it.effect("a record of any resource that is deleted and restored is as it was, except editedAt", () =>
    Effect.gen(function* () {
      const random = randomOf(Number(process.env["TEST_SEED"] ?? 2))
      const world = worldOf(random, "r")
      for (let step = 0; step < 200; step++) yield* world.step()
      const restored = new Map<Resource, number>()
      for (const resource of resources) {
        for (const uuid of world.uuids[resource]) {
          const { body, status } = yield* read(resource, uuid)
          if (status !== 200) continue
          const before = yield* whole(resource, uuid)
          if ((yield* remove(resource, uuid)).status !== 200) continue
          if (random() < 0.5) yield* seal
          const answer = yield* restore(resource, uuid)
          assert.strictEqual(answer.status, 200, `${resource} ${answer.text}`)
          assert.deepStrictEqual(yield* whole(resource, uuid), before, `${resource} ${uuid}`)
          assert.isAbove(Date.parse((yield* read(resource, uuid)).body.data.editedAt), Date.parse(body.data.editedAt))
          const events = yield* history(resource, uuid)
          assert.deepStrictEqual(events.at(-1)!.type.split(".")[1], "restored")
          restored.set(resource, (restored.get(resource) ?? 0) + 1)
        }
      }
      assert.sameMembers([...restored.keys()], [...resources])
    })
  )

  it.effect(
    "an existing record that is restored to an event has the members that it had then, and its current relations",
    () =>
      Effect.gen(function* () {
        const uuid = yield* create({ name: "One", other: { extraDna1: "a" } })
        const asset = yield* createAsset()
        yield* send("PUT", `/v1/locations/${uuid}/media`, { body: { items: [{ assetUuid: asset, role: "team" }] } })
        const before = yield* read("locations", uuid)
        yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "Two", other: null } })
        yield* send("PUT", `/v1/locations/${uuid}/media`, { body: { items: [] } })
        const group = yield* createGroup({ locations: [uuid] })
        const [, second] = yield* history("locations", uuid)
        assert.deepStrictEqual(problemsOf(yield* restore("locations", uuid)), [
          400,
          "InvalidRequestError",
          "eventId required"
        ])
        const { headers, status } = yield* restore("locations", uuid, { eventId: second!.id })
        assert.deepStrictEqual([status, headers.get("warning")], [200, null])
        const after = yield* whole("locations", uuid)
        const { editedAt: _, ...expected } = before.body.data
        assert.deepStrictEqual(after[0], withoutAddresses(expected))
        const groups = yield* send("GET", `/v1/locations/${uuid}/groups`)
        assert.deepStrictEqual(groups.body.data[0].uuid, group)
        assert.strictEqual((yield* history("locations", uuid)).at(-1)!.type, "location.restored")
      })
  )

  it.effect("an existing product gets back the modules that it had after an event, and statuses move freely", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      yield* activate(uuid, "price", { model: "free" })
      yield* send("PATCH", `/v1/products/${uuid}`, { body: { status: "published" } })
      yield* send("PATCH", `/v1/products/${uuid}`, { body: { status: "archived" } })
      yield* send("DELETE", `/v1/products/${uuid}/modules/price`)
      yield* activate(uuid, "stock", {})
      const published = (yield* history("products", uuid))[2]!
      assert.strictEqual((yield* restore("products", uuid, { eventId: published.id })).status, 200)
      const { modules, status } = yield* readProduct(uuid)
      const active = modules.filter((one: { readonly active: boolean }) => one.active)
      assert.deepStrictEqual(
        [status, active.map((one: { readonly module: string }) => one.module)],
        ["published", ["price"]]
      )
    })
  )

  it.effect("a restoration that changes nothing is no event and keeps editedAt", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      const events = yield* history("users", uuid)
      const before = yield* read("users", uuid)
      assert.strictEqual((yield* restore("users", uuid, { eventId: events[0]!.id })).status, 200)
      assert.deepStrictEqual((yield* read("users", uuid)).body.data, before.body.data)
      assert.lengthOf(yield* history("users", uuid), 1)
    })
  )

  it.effect("relations come back whose other side exists and may be updated; the others are in a warning", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const groups = [yield* createGroup(), yield* createGroup(), yield* createGroup()]
      const locations = [yield* create()]
      const uuid = yield* createUser({ groups, locations })
      yield* remove("users", uuid)
      yield* remove("groups", groups[0]!)
      const limited = yield* key(["create:users", "update:users", "update:groups"])
      const { headers, status } = yield* restore("users", uuid, {}, { key: limited })
      assert.deepStrictEqual([status, headers.get("warning")], [200, '299 - "Not restored: locations 1, groups 1"'])
      const left = yield* send("GET", `/v1/users/${uuid}/groups`)
      assert.sameMembers(
        left.body.data.map((group: { readonly uuid: string }) => group.uuid),
        groups.slice(1)
      )
    })
  )

  it.effect("references of a post and values of an asset whose records are gone are in a warning", () =>
    Effect.gen(function* () {
      const author = yield* createUser()
      const group = yield* createGroup()
      const cover = yield* createAsset()
      const uuid = yield* createPost({
        author: { uuid: author },
        coverAssetUuid: cover,
        audience: { authorizationType: "groups", groups: [{ uuid: group }], locations: [] }
      })
      yield* remove("posts", uuid)
      yield* remove("users", author)
      yield* remove("groups", group)
      yield* remove("assets", cover)
      assert.strictEqual(
        (yield* restore("posts", uuid)).headers.get("warning"),
        '299 - "Not restored: author 1, audience.groups 1, coverAssetUuid 1"'
      )
      const category = yield* createCategory({ key: "gone" })
      const definition = yield* createMetaTag({ key: "gone", type: "text" })
      const asset = yield* createAsset({ categories: ["gone"], metaTags: [{ key: "gone", value: "a" }] })
      yield* remove("assets", asset)
      yield* remove("asset-categories", category)
      yield* remove("meta-tags", definition)
      const { headers } = yield* restore("assets", asset)
      assert.strictEqual(headers.get("warning"), '299 - "Not restored: categories 1, metaTags 1"')
    })
  )

  it.effect("a post whose audience lists were cleared is restored with empty ones", () =>
    Effect.gen(function* () {
      const group = yield* createGroup()
      const location = yield* create()
      const uuid = yield* createPost({
        audience: { authorizationType: "groups", groups: [{ uuid: group }], locations: [{ uuid: location }] }
      })
      const given = yield* readPost(uuid)
      yield* patchPost(uuid, { audience: { groups: null, locations: null } })
      const { editedAt: _, ...cleared } = yield* readPost(uuid)
      assert.deepStrictEqual([cleared.audience.groups, cleared.audience.locations], [[], []])
      yield* remove("posts", uuid)
      const { headers, status } = yield* restore("posts", uuid)
      assert.deepStrictEqual([status, headers.get("warning")], [200, null])
      assert.deepInclude(yield* readPost(uuid), cleared)
      const [created, updated] = yield* history("posts", uuid)
      assert.strictEqual((yield* restore("posts", uuid, { eventId: created!.id })).status, 200)
      assert.deepStrictEqual((yield* readPost(uuid)).audience, given.audience)
      assert.strictEqual((yield* restore("posts", uuid, { eventId: updated!.id })).status, 200)
      const before = yield* readPost(uuid)
      assert.deepInclude(before, cleared)
      // The same state again changes nothing.
      assert.strictEqual((yield* restore("posts", uuid, { eventId: updated!.id })).status, 200)
      assert.deepStrictEqual(yield* readPost(uuid), before)
    })
  )

  it.effect("a definition whose categories are all gone is not restored, because it would apply to all assets", () =>
    Effect.gen(function* () {
      const [kept, gone] = [yield* createCategory({ key: "kept" }), yield* createCategory({ key: "lost" })]
      const uuid = yield* createMetaTag({ key: "bound", type: "text", categories: ["lost"] })
      const [bound] = yield* history("meta-tags", uuid)
      yield* send("PATCH", `/v1/meta-tags/${uuid}`, { body: { categories: ["kept", "lost"] } })
      const both = (yield* history("meta-tags", uuid)).at(-1)!
      yield* send("PATCH", `/v1/meta-tags/${uuid}`, { body: { categories: ["kept"] } })
      yield* remove("asset-categories", gone)
      const before = yield* read("meta-tags", uuid)
      const rejected = [400, "InvalidRequestError", "eventId notFound"]
      assert.deepStrictEqual(problemsOf(yield* restore("meta-tags", uuid, { eventId: bound!.id })), rejected)
      assert.deepStrictEqual((yield* read("meta-tags", uuid)).body.data, before.body.data)
      const partly = yield* restore("meta-tags", uuid, { eventId: both.id })
      assert.deepStrictEqual(
        [partly.status, partly.headers.get("warning")],
        [200, '299 - "Not restored: categories 1"']
      )
      yield* remove("meta-tags", uuid)
      yield* remove("asset-categories", kept)
      assert.deepStrictEqual(problemsOf(yield* restore("meta-tags", uuid)), rejected)
      assert.strictEqual((yield* read("meta-tags", uuid)).status, 404)
      yield* restore("asset-categories", kept)
      assert.strictEqual((yield* restore("meta-tags", uuid)).status, 200)
      assert.deepStrictEqual((yield* read("meta-tags", uuid)).body.data.categories, ["kept"])
    })
  )

  it.effect("references of modules whose records are gone are in a warning", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [kept, gone] = [yield* createGroup(), yield* createGroup()]
      yield* activate(uuid, "permissions", {
        authorizationType: "groups",
        groups: [kept, gone].map((group) => ({ uuid: group, actions: ["view"] }))
      })
      yield* remove("products", uuid)
      yield* remove("groups", gone)
      assert.strictEqual(
        (yield* restore("products", uuid)).headers.get("warning"),
        '299 - "Not restored: modules.permissions.groups 1"'
      )
    })
  )

  it.effect(
    "the warning of a restored product names the members of modules that referred to records that are gone",
    () =>
      Effect.gen(function* () {
        const uuid = yield* createProduct()
        const [one, two] = [yield* createUser(), yield* createUser()]
        const time = { startsAt: "2030-01-01T00:00:00.000Z", endsAt: "2030-02-01T00:00:00.000Z" }
        yield* activate(uuid, "campaigns", {
          campaigns: [{ key: "SPRING", name: "Spring", ...time, responsibleUserUuid: one }]
        })
        yield* activate(uuid, "workflow", {
          steps: [{ name: "Check", approvers: { type: "users", uuids: [one, two] }, escalateTo: two }]
        })
        yield* remove("products", uuid)
        for (const user of [one, two]) yield* remove("users", user)
        assert.strictEqual(
          (yield* restore("products", uuid)).headers.get("warning"),
          '299 - "Not restored: modules.workflow.steps.approvers.uuids 2, modules.workflow.steps.escalateTo 1, modules.campaigns.campaigns.responsibleUserUuid 1"'
        )
      })
  )

  it.effect("of restorations of a record at once, one brings it back, and the others find it there", () =>
    Effect.gen(function* () {
      const made: ReadonlyArray<readonly [Resource, string]> = [
        ["assets", yield* createAsset()],
        ["posts", yield* createPost()],
        ["locations", yield* create()],
        ["products", yield* createProduct()]
      ]
      for (const [resource, uuid] of made) {
        for (let round = 0; round < 2; round++) {
          assert.strictEqual((yield* remove(resource, uuid)).status, 200)
          const answers = yield* Effect.all(
            Array.from({ length: 4 }, () => restore(resource, uuid)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            answers.map(({ status }) => status).toSorted((a, b) => a - b),
            [200, 400, 400, 400],
            answers.map(({ text }) => text).join("\n")
          )
          for (const answer of answers.filter(({ status }) => status === 400)) {
            assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "eventId required"])
          }
        }
      }
    })
  )

  it.effect("rules hold: what another record has taken is a conflict, and a file that is gone is not found", () =>
    Effect.gen(function* () {
      const location = yield* create({ identifier: "taken" })
      yield* remove("locations", location)
      yield* create({ identifier: "taken" })
      expectError(yield* restore("locations", location), 400, "DuplicateIdentifierError")
      const post = yield* createPost({ slug: "taken" })
      yield* remove("posts", post)
      yield* createPost({ slug: "taken" })
      assert.deepStrictEqual(problemsOf(yield* restore("posts", post)), [400, "InvalidRequestError", "slug notUnique"])
      const file = yield* fileRow("gone.txt")
      const asset = yield* createAsset({ fileUuid: file })
      yield* remove("assets", asset)
      const { pooled } = yield* Sql
      yield* pooled`delete from files where uuid = ${file}`
      expectError(yield* restore("assets", asset), 404, "FileNotFoundError")
    })
  )

  it.effect("a scheduled post whose time has passed comes back as a draft, a published one as it was", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const deleted = Effect.gen(function* () {
        const uuid = yield* createPost({ status: "scheduled", publishAt: "2020-01-01T00:00:00.000Z" })
        yield* remove("posts", uuid)
        const [row] = yield* pooled<{ readonly status: string }>`
          select before->>'status' as status from (select record_uuid, action, before from events
            union all select uuid, action, before from pending_changes) changes
          where record_uuid = ${uuid}::uuid and action = 'deleted'`
        return { uuid, status: row?.status }
      })
      // The service may publish it before it is deleted.
      const { uuid: scheduled } = yield* Effect.repeat(deleted, { until: ({ status }) => status === "scheduled" })
      yield* restore("posts", scheduled)
      assert.deepInclude(yield* readPost(scheduled), { status: "draft", publishAt: "2020-01-01T00:00:00.000Z" })
      const published = yield* createPost({ status: "scheduled", publishAt: "2040-01-01T00:00:00.000Z" })
      yield* patchPost(published, { publishAt: "2040-01-02T00:00:00.000Z" })
      yield* pooled`update posts set status = 'published' where uuid = ${published}`
      const before = yield* readPost(published)
      yield* remove("posts", published)
      yield* restore("posts", published)
      const { editedAt: _, ...after } = yield* readPost(published)
      assert.deepInclude(before, after)
    })
  )

  it.effect("the clock of the database, which publishes posts, says whether the time of one has passed", () =>
    Effect.gen(function* () {
      const [fast, slow] = ["2041-01-01T00:00:00.000Z", "2019-01-01T00:00:00.000Z"]
      const restored = Effect.fnUntraced(function* (publishAt: string, processTime: string) {
        const uuid = yield* createPost({ status: "scheduled", publishAt: "2040-01-01T00:00:00.000Z" })
        const { pooled } = yield* Sql
        yield* pooled`update posts set publish_at = ${publishAt}::timestamptz where uuid = ${uuid} and status = 'scheduled'`
        yield* remove("posts", uuid)
        yield* Effect.acquireUseRelease(
          Effect.sync(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(processTime) })),
          () => restore("posts", uuid),
          () => Effect.sync(() => vi.useRealTimers())
        )
        return (yield* readPost(uuid)).status
      })
      assert.strictEqual(yield* restored("2040-06-01T00:00:00.000Z", fast), "scheduled")
      // The service may publish it before it is deleted.
      assert.notStrictEqual(yield* restored("2020-01-01T00:00:00.000Z", slow), "scheduled")
    })
  )

  it.effect("a deleted record is not restored as one of another resource", () =>
    Effect.gen(function* () {
      for (const [owner, uuid] of [
        ["groups", yield* createGroup()],
        ["users", yield* createUser()],
        ["asset-categories", yield* createCategory({ key: "of-another" })]
      ] as const) {
        assert.strictEqual((yield* remove(owner, uuid)).status, 200)
        for (const isSealed of [false, true]) {
          if (isSealed) yield* seal
          for (const resource of resources.filter((resource) => resource !== owner)) {
            const answer = yield* restore(resource, uuid)
            assert.strictEqual(answer.status, 404, `${resource} with the uuid of one of ${owner}: ${answer.text}`)
          }
        }
        assert.strictEqual((yield* restore(owner, uuid)).status, 200)
      }
    })
  )

  it.effect("events that are unknown, of another record or of a deletion are rejected; a pruned one is 410", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [uuid, other] = [yield* create(), yield* create()]
      const [first] = yield* history("locations", other)
      yield* remove("locations", uuid)
      const deletion = (yield* history("locations", uuid)).at(-1)!
      const problem = (code: string) => [400, "InvalidRequestError", `eventId ${code}`]
      assert.deepStrictEqual(
        problemsOf(yield* restore("locations", uuid, { eventId: unknownUuid })),
        problem("unknown")
      )
      assert.deepStrictEqual(problemsOf(yield* restore("locations", uuid, { eventId: first!.id })), problem("unknown"))
      assert.deepStrictEqual(
        problemsOf(yield* restore("locations", uuid, { eventId: deletion.id })),
        problem("notAllowed")
      )
      yield* pooled`update event_log set pruned_position = 1`
      const pruned = "01936f0e-7c4b-7000-8000-000000000001"
      expectError(yield* restore("locations", uuid, { eventId: pruned }), 410, "HistoryExpiredError")
      expectError(yield* restore("locations", unknownUuid), 404, "LocationNotFoundError")
    })
  )

  it.effect("If-Match applies to an existing record, and a restoration needs both permissions", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const uuid = yield* createGroup()
      const [first] = yield* history("groups", uuid)
      yield* send("PATCH", `/v1/groups/${uuid}`, { body: { description: "New" } })
      const body = { eventId: first!.id }
      const stale = yield* restore("groups", uuid, body, { headers: { "if-match": '"stale"' } })
      expectError(stale, 412, "PreconditionFailedError")
      // It comes after the existence of the record and before the rules of a restoration.
      for (const wrong of [{}, { eventId: unknownUuid }]) {
        const answer = yield* restore("groups", uuid, wrong, { headers: { "if-match": '"stale"' } })
        expectError(answer, 412, "PreconditionFailedError", JSON.stringify(wrong))
        const unknown = yield* restore("groups", unknownUuid, wrong, { headers: { "if-match": '"stale"' } })
        expectError(unknown, 404, "GroupNotFoundError", JSON.stringify(wrong))
      }
      const etag = (yield* read("groups", uuid)).headers.get("etag")!
      expectError(
        yield* restore("groups", uuid, body, { key: yield* key(["update:groups"]) }),
        403,
        "MissingPermissionsError"
      )
      assert.strictEqual((yield* restore("groups", uuid, body, { headers: { "if-match": etag } })).status, 200)
    })
  )

  it.effect("a deleted record is restored to an earlier event, with the relations of then", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* createGroup(), yield* createGroup()]
      const uuid = yield* createUser({ groups: [one], firstName: "Then" })
      yield* send("PUT", `/v1/users/${uuid}/groups`, { body: { groups: [two] } })
      yield* send("PATCH", `/v1/users/${uuid}`, { body: { firstName: "Later" } })
      yield* remove("users", uuid)
      const [first] = yield* history("users", uuid)
      assert.strictEqual((yield* restore("users", uuid, { eventId: first!.id })).status, 200)
      assert.strictEqual((yield* read("users", uuid)).body.data.firstName, "Then")
      const { body } = yield* send("GET", `/v1/users/${uuid}/groups`)
      assert.deepStrictEqual(
        body.data.map((group: { readonly uuid: string }) => group.uuid),
        [one]
      )
    })
  )
})
