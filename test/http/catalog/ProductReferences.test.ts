import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Permission } from "../../../src/domain/keys/Permission.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createCategory } from "../../support/requests/AssetRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  getModule,
  minimalSettings,
  patchProduct,
  putModule,
  readModule
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuids } from "../../support/requests/Requests.ts"

/** Bodies that refer to records of a kind, and how to read the references from the response. */
const naming: ReadonlyArray<
  readonly [
    module: string,
    kind: "users" | "locations" | "groups",
    body: (uuids: ReadonlyArray<string>) => object,
    referencesIn: (answer: any) => ReadonlyArray<string | undefined>
  ]
> = [
  [
    "distribution",
    "locations",
    (uuids) => ({
      allocationMode: "explicit",
      allocations: uuids.map((locationUuid) => ({ locationUuid, quantity: 1 }))
    }),
    ({ allocations }) => allocations.map(({ locationUuid }: any) => locationUuid)
  ],
  ...(["locations", "permissions"] as const).flatMap((module) =>
    (["locations", "groups"] as const).map(
      (kind) =>
        [
          module,
          kind,
          (uuids: ReadonlyArray<string>) => ({ [kind]: uuids.map((uuid) => ({ uuid })) }),
          (answer: any) => answer[kind].map(({ uuid }: any) => uuid)
        ] as const
    )
  ),
  ...(["location", "group"] as const).map(
    (scope) =>
      [
        "price",
        `${scope}s` as const,
        (uuids: ReadonlyArray<string>) => ({ overrides: uuids.map((uuid) => ({ scope, uuid, amountMinor: 1 })) }),
        ({ overrides }: any) => overrides.map(({ uuid }: any) => uuid)
      ] as const
  ),
  ...(["users", "groups"] as const).map(
    (type) =>
      [
        "workflow",
        type,
        (uuids: ReadonlyArray<string>) => ({ steps: [{ name: "a", approvers: { type, uuids } }] }),
        ({ steps }: any) => steps[0].approvers.uuids
      ] as const
  ),
  [
    "workflow",
    "users",
    (uuids) => ({
      steps: uuids.map((escalateTo) => ({ name: "a", approvers: { type: "locationManagers" }, escalateTo }))
    }),
    ({ steps }) => steps.flatMap(({ escalateTo }: any) => escalateTo ?? [])
  ],
  [
    "campaigns",
    "users",
    (uuids) => ({
      campaigns: uuids.map((responsibleUserUuid) => ({
        key: responsibleUserUuid,
        name: "a",
        startsAt: "2026-01-01T00:00:00.000Z",
        endsAt: "2026-01-02T00:00:00.000Z",
        responsibleUserUuid
      }))
    }),
    ({ campaigns }) => campaigns.flatMap(({ responsibleUserUuid }: any) => responsibleUserUuid ?? [])
  ],
  [
    "internal-comment",
    "users",
    (uuids) => ({ thread: uuids.map((uuid) => ({ body: "a", author: { uuid } })) }),
    ({ thread }) => thread.flatMap(({ author }: any) => author?.uuid ?? [])
  ]
]
const errors = { users: "UserNotFoundError", locations: "LocationNotFoundError", groups: "GroupNotFoundError" }
const makers = { users: createUser, locations: createLocation, groups: createGroup }

layer(TestServer.layer(), { excludeTestServices: true })("References of modules", (it) => {
  it.effect.each(naming)(
    "the %s module accepts only existing %s and drops deleted ones",
    ([name, kind, body, referencesIn]) =>
      Effect.gen(function* () {
        const uuid = yield* createProduct()
        const [kept, gone] = [yield* makers[kind](), yield* makers[kind]()]
        assert.deepStrictEqual(referencesIn(yield* activate(uuid, name, body([kept, gone]))), [kept, gone])
        const before = yield* readModule(uuid, name)
        const rejected = yield* putModule(uuid, name, body([unknownUuids[0]!, kept, ...unknownUuids.slice(1)]))
        expectError(rejected, 404, errors[kind])
        assert.deepStrictEqual(rejected.body.uuids.toSorted(), unknownUuids)
        assert.deepStrictEqual(yield* readModule(uuid, name), before)
        yield* send("DELETE", `/v1/${kind}/${gone}`)
        assert.deepStrictEqual(referencesIn(yield* readModule(uuid, name)), [kept])
      })
  )

  it.effect("references have uuids for every key, and names only for keys that may read the record", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const uuid = yield* createProduct()
      const location = yield* createLocation({ name: "Utrecht", identifier: "UTR-9" })
      const group = yield* createGroup({ name: "Region North" })
      const user = yield* createUser({ firstName: "Anna", lastName: "de Vries" })
      const nameless = yield* createUser()
      const { username } = (yield* send("GET", `/v1/users/${nameless}`)).body.data
      const both = { locations: [{ uuid: location, name: "Sent" }], groups: [{ uuid: group }] }
      yield* activate(uuid, "locations", both)
      yield* activate(uuid, "permissions", both)
      yield* activate(uuid, "internal-comment", {
        editedBy: { uuid: user },
        thread: [{ body: "a", author: { uuid: nameless } }]
      })
      const named = { location: { name: "Utrecht", identifier: "UTR-9" }, group: { name: "Region North" } }
      for (const more of [[], ["read:locations"], ["read:groups"], ["read:users"]] as ReadonlyArray<
        Array<Permission>
      >) {
        const held = yield* key(["read:products", ...more])
        const may = (permission: Permission, names: object) => (more.includes(permission) ? names : {})
        for (const name of ["locations", "permissions"]) {
          const { locations, groups } = (yield* getModule(uuid, name, held)).body.data
          const actions = name === "permissions" ? { actions: [] } : {}
          assert.deepStrictEqual(locations, [{ uuid: location, ...may("read:locations", named.location), ...actions }])
          assert.deepStrictEqual(groups, [{ uuid: group, ...may("read:groups", named.group), ...actions }])
        }
        const { editedBy, thread } = (yield* getModule(uuid, "internal-comment", held)).body.data
        assert.deepStrictEqual(editedBy, { uuid: user, ...may("read:users", { name: "Anna de Vries" }) })
        assert.deepStrictEqual(thread[0].author, { uuid: nameless, ...may("read:users", { name: username }) })
      }
    })
  )

  it.effect("the files module rejects unknown files with a 404 that lists them", () =>
    Effect.gen(function* () {
      const files = unknownUuids.map((fileUuid) => ({ fileUuid, role: "download" }))
      const body = expectError(yield* putModule(yield* createProduct(), "files", { files }), 404, "FileNotFoundError")
      assert.deepStrictEqual(body.uuids, unknownUuids)
    })
  )

  it.effect("the template module accepts only existing asset categories, and is invalid once one is deleted", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [kept, gone] = [unique("category"), unique("category")]
      yield* createCategory({ key: kept })
      const category = yield* createCategory({ key: gone })
      const variable = { key: "logo", type: "image" }
      const body = (...assetCategories: ReadonlyArray<string>) => ({
        ...minimalSettings["template"],
        variables: [{ ...variable, assetCategories }]
      })
      const issue = "variables.0.assetCategories.1 unknownCategory"
      const error = [400, "InvalidTemplateModuleConfigurationError", issue]
      assert.deepStrictEqual(problemsOf(yield* putModule(uuid, "template", body(kept, "none"))), error)
      const before = yield* activate(uuid, "template", body(kept, gone))
      assert.deepStrictEqual(before.variables[0].assetCategories, [kept, gone])
      yield* send("DELETE", `/v1/asset-categories/${category}`)
      assert.deepStrictEqual(problemsOf(yield* getModule(uuid, "template")), error)
      const published = yield* patchProduct(uuid, { status: "published" })
      assert.strictEqual(published.body.issues?.[0].path, `modules.template.${issue.split(" ")[0]}`)
      yield* createCategory({ key: gone })
      assert.deepStrictEqual(yield* readModule(uuid, "template"), before)
    })
  )

  it.effect("modules store locales in canonical case and reject unknown locales at any depth", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const methods = (locale: string) => ({
        methods: [{ key: "a", type: "pickup", translations: [{ locale, name: "a" }] }]
      })
      const read = yield* activate(uuid, "delivery", methods("nl_nl"))
      assert.strictEqual(read.methods[0].translations[0].locale, "nl-NL")
      for (const rejected of [
        yield* putModule(uuid, "delivery", methods("xx")),
        yield* putModule(uuid, "template", { ...minimalSettings["template"], locales: ["nl", "xx"] })
      ]) {
        expectError(rejected, 400, "InvalidLocaleError")
        assert.strictEqual(rejected.body.locale, "xx")
      }
    })
  )

  it.effect("a locations module with ten thousand locations is written and read", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const rows = yield* Postgres.execute<{ readonly uuid: string }>(
        `insert into locations (uuid, name, identifier)
          select gen_random_uuid(), 'Branch', 'Many ' || i from generate_series(1, 10000) i returning uuid`
      )
      const locations = rows.map(({ uuid }) => ({ uuid }))
      const read = yield* activate(uuid, "locations", { mode: "include", locations })
      assert.strictEqual(read.resolvedCount, 10_000)
      assert.deepStrictEqual(
        read.locations.map(({ uuid }: { readonly uuid: string }) => uuid),
        rows.map(({ uuid }) => uuid)
      )
      const missing = unknownUuids.map((uuid) => ({ uuid }))
      const rejected = yield* putModule(uuid, "locations", { locations: [...missing, ...locations.slice(3)] })
      assert.deepStrictEqual([rejected.status, rejected.body.uuids?.toSorted()], [404, unknownUuids])
    })
  )
})

layer(TestServer.layer({ LOCALES: "nl-NL,de-DE" }), { excludeTestServices: true })("Locales of templates", (it) => {
  it.effect("a template module without locales has the default locale, with its region", () =>
    Effect.gen(function* () {
      const settings = { ...minimalSettings["template"], locales: undefined }
      const { locales } = yield* activate(yield* createProduct(), "template", settings)
      assert.deepStrictEqual(locales, ["nl-NL"])
    })
  )
})
