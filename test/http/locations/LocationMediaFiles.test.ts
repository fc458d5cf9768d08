import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, fileRow, patchAsset, readAsset, unattachedSince } from "../../support/requests/AssetRequests.ts"
import { type Answer, create, expectError, read, send, unknownUuid } from "../../support/requests/Requests.ts"

const show = (uuid: string, items: ReadonlyArray<unknown>, headers: Readonly<Record<string, string>> = {}) =>
  send("PUT", `/v1/locations/${uuid}/media`, { body: { items }, headers })
const other = (fileUuid: string) => ({ fileUuid, role: "other" })
const caption = (uuid: string, translationLabels: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send("PUT", `/v1/locations/${uuid}/translation-labels`, { body: { translationLabels }, headers })
const label = (key: string, locale: string, text: string) => ({ key, locale, label: text })
const tagOf = (uuid: string) => Effect.map(send("GET", `/v1/locations/${uuid}`), ({ headers }) => headers.get("etag")!)
const isHeld = (file: string) => Effect.map(unattachedSince(file), (since) => since === undefined)

/** Repeats a request: on a busy machine a lock may take longer than its time limit. */
const patiently = <E, R>(request: Effect.Effect<Answer, E, R>) =>
  Effect.repeat(request, { while: ({ status }) => status === 503 })

/** How many deadlocks PostgreSQL has ended. */
const deadlocks = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.map(
    pooled<{ readonly deadlocks: number }>`
      select deadlocks::int from pg_stat_database where datname = current_database()`,
    ([row]) => row!.deadlocks
  )
)

layer(TestServer.layer(), { excludeTestServices: true })("Parts of locations", (it) => {
  describe("Files of locations", () => {
    it.effect("a file stays attached until the last location or asset that has it drops it", () =>
      Effect.gen(function* () {
        const [file, left] = [yield* fileRow("a.txt"), yield* fileRow("b.txt")]
        const [one, two] = [yield* create(), yield* create()]
        assert.isFalse(yield* isHeld(file))
        yield* show(one, [other(file), other(left)])
        yield* show(two, [other(file), other(file)])
        assert.deepStrictEqual([yield* isHeld(file), yield* isHeld(left)], [true, true])
        yield* show(one, [other(file)])
        assert.deepStrictEqual([yield* isHeld(file), yield* isHeld(left)], [true, false])
        yield* show(one, [])
        assert.isTrue(yield* isHeld(file))
        const asset = yield* createAsset({ fileUuid: file })
        yield* send("DELETE", `/v1/locations/${two}`)
        assert.isTrue(yield* isHeld(file))
        yield* show(one, [other(file)])
        yield* send("DELETE", `/v1/assets/${asset}`)
        assert.isTrue(yield* isHeld(file))
        yield* send("DELETE", `/v1/locations/${one}`)
        assert.isFalse(yield* isHeld(file))
      })
    )

    it.effect("a new file of an asset appears in the media of its locations", () =>
      Effect.gen(function* () {
        const [file, next] = [yield* fileRow("a.txt"), yield* fileRow("b.txt")]
        const asset = yield* createAsset({ fileUuid: file })
        const [one, two] = [yield* create(), yield* create()]
        yield* show(one, [{ assetUuid: asset, role: "other" }])
        yield* show(two, [other(file)])
        yield* patchAsset(asset, { fileUuid: next })
        const { cdnUrl: _, ...urls } = (yield* readAsset(asset)).urls
        assert.deepStrictEqual((yield* read(one)).media.items[0].urls, urls)
        assert.include((yield* read(two)).media.items[0].urls.original, file)
        assert.isTrue(yield* isHeld(file))
      })
    )

    it.effect("concurrent attach and detach of the same files by many locations does not deadlock", () =>
      Effect.gen(function* () {
        const files = yield* Effect.forEach(["a", "b", "c", "d"], (name) => fileRow(`${name}.txt`))
        const locations = yield* Effect.replicateEffect(create(), 12, { concurrency: 4 })
        const before = yield* deadlocks
        for (let round = 0; round < 4; round++) {
          const answers = yield* Effect.forEach(
            locations,
            (uuid, index) => {
              const turned = files.map((_, place) => files[(place + index + round) % 4]!)
              const items = (index % 2 === 0 ? turned : turned.toReversed()).slice(0, 1 + ((index + round) % 4))
              return patiently(show(uuid, items.map(other)))
            },
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
          assert.deepStrictEqual(yield* Effect.forEach(files, isHeld), [true, true, true, true])
        }
        yield* Effect.forEach(
          locations,
          (uuid, index) => patiently(index % 2 === 0 ? show(uuid, []) : send("DELETE", `/v1/locations/${uuid}`)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* deadlocks, before)
        assert.deepStrictEqual(yield* Effect.forEach(files, isHeld), [false, false, false, false])
      })
    )

    it.effect("of concurrent replacements of the same media exactly one remains", () =>
      Effect.gen(function* () {
        const uuid = yield* create()
        const files = yield* Effect.forEach(["a", "b", "c"], (name) => fileRow(`${name}.txt`))
        const answers = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => show(uuid, [other(files[index % 3]!), other(files[(index + 1) % 3]!)]),
          { concurrency: 12 }
        )
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        assert.lengthOf((yield* read(uuid)).media.items, 2)
        const tag = yield* tagOf(uuid)
        const guarded = yield* Effect.forEach(files, (file) => show(uuid, [other(file)], { "if-match": tag }), {
          concurrency: 3
        })
        assert.sameMembers(
          guarded.map(({ status }) => status),
          [200, 412, 412]
        )
      })
    )
  })

  describe("Translation labels of locations", () => {
    it.effect(
      "translation labels are sorted, have canonical locales, are replaced whole, and are an edit only if they change",
      () =>
        Effect.gen(function* () {
          const uuid = yield* create()
          assert.deepStrictEqual((yield* read(uuid)).translationLabels, [])
          const sent = [
            label("other.extraDna3", "nl_nl", " Parkeren "),
            label("other.extraDna3", "DE", "Parken"),
            label("other.extraDna1", "nl", "Openingstijden")
          ]
          const { body, status } = yield* caption(uuid, sent)
          assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid } }])
          const before = yield* read(uuid)
          assert.isTrue(before.editedAt > before.createdAt)
          assert.deepStrictEqual(before.translationLabels, [
            label("other.extraDna1", "nl", "Openingstijden"),
            label("other.extraDna3", "de", "Parken"),
            label("other.extraDna3", "nl-NL", "Parkeren")
          ])
          for (const same of [sent, before.translationLabels, sent.toReversed()]) {
            assert.strictEqual((yield* caption(uuid, same)).status, 200)
            assert.deepStrictEqual(yield* read(uuid), before)
          }
          const filter = "translationLabels.label:equals:Parken,translationLabels.locale:equals:nl-NL"
          assert.deepStrictEqual((yield* send("GET", `/v1/locations?filter=${filter}`)).body.data, [before])
          yield* caption(uuid, sent.slice(2))
          assert.deepStrictEqual((yield* read(uuid)).translationLabels, sent.slice(2))
          yield* caption(uuid, [])
          assert.deepStrictEqual((yield* read(uuid)).translationLabels, [])
        })
    )

    it.effect(
      "translation labels are unique by key and locale, and malformed ones or unknown locales are rejected",
      () =>
        Effect.gen(function* () {
          const uuid = yield* create()
          const fine = label("other.extraDna1", "nl-NL", "a")
          for (const [path, labels] of [
            ["translationLabels", undefined],
            ["translationLabels", null],
            ["translationLabels", [fine, { ...fine, locale: "NL_nl" }]],
            ["translationLabels", Array.from({ length: 1001 }, (_, index) => ({ ...fine, key: `k${index}` }))],
            ["translationLabels.0.key", [{ ...fine, key: "other." }]],
            ["translationLabels.0.label", [{ ...fine, label: "a".repeat(101) }]],
            ["translationLabels.0.label", [{ ...fine, label: null }]],
            ["translationLabels.0.text", [{ ...fine, text: "a" }]]
          ] as const) {
            const body = expectError(yield* caption(uuid, labels), 400, "InvalidRequestError")
            assert.strictEqual(body.issues?.[0].path, path)
          }
          const invalid = [{ ...fine, locale: "xx" }]
          const body = expectError(yield* caption(uuid, invalid), 400, "InvalidLocaleError")
          assert.strictEqual(body.locale, "xx")
          const unknown = yield* caption(unknownUuid, invalid)
          expectError(unknown, 404, "LocationNotFoundError")
          assert.strictEqual((yield* caption(uuid, invalid, { "if-match": `"stale"` })).status, 412)
          assert.deepStrictEqual((yield* read(uuid)).translationLabels, [])
        })
    )

    it.effect("writing translation labels or media requires update:locations", () =>
      Effect.gen(function* () {
        const { key } = yield* TestServer.TestServer
        const uuid = yield* create()
        const writer = yield* key(["update:locations"])
        const reader = yield* key(["read:locations", "update:assets"])
        for (const [path, body] of [
          ["media", { items: [] }],
          ["translation-labels", { translationLabels: [] }]
        ] as const) {
          const write = (key: string) => send("PUT", `/v1/locations/${uuid}/${path}`, { body, key })
          assert.strictEqual((yield* write(writer)).status, 200)
          const rejected = yield* write(reader)
          assert.deepStrictEqual([rejected.status, rejected.body.missing], [403, ["update:locations"]])
        }
      })
    )
  })
})
