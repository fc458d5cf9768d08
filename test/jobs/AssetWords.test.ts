import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { cleanWords } from "../../src/jobs/AssetTexts.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { find, named } from "../http/assets/AssetSearches.ts"
import { patchAsset } from "../support/requests/AssetRequests.ts"
import { send } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"

const nameOf = (name: string) => [{ locale: "en", name }]

/** Renames an asset as the service does. */
const rename = Effect.fnUntraced(function* (uuid: string, name: string) {
  const { pooled } = yield* Sql
  yield* pooled`update assets set translations = ${JSON.stringify(nameOf(name))}::jsonb where uuid = ${uuid}`
  yield* pooled`select waypost_index_asset(${uuid}::uuid)`
})

/** Runs something in a transaction, and something else outside of it before it commits. */
const whileOpen = Effect.fnUntraced(function* <A, E, R, B, F, S>(
  inside: Effect.Effect<A, E, R>,
  outside: Effect.Effect<B, F, S>
) {
  const { pooled } = yield* Sql
  const [isOpen, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const open = yield* Effect.forkChild(
    pooled.withTransaction(
      Effect.gen(function* () {
        yield* pooled`set local idle_in_transaction_session_timeout = 0`
        yield* inside
        yield* Deferred.succeed(isOpen, undefined)
        yield* Deferred.await(isDone)
      })
    )
  )
  yield* Effect.raceFirst(Deferred.await(isOpen), Fiber.join(open))
  const result = yield* outside
  yield* Deferred.succeed(isDone, undefined)
  yield* Fiber.join(open)
  return result
})

const remove = (uuid: string) => send("DELETE", `/v1/assets/${uuid}`)

layer(TestServer.layer(), { excludeTestServices: true })("words of the asset search", (it) => {
  it.effect("a new word in the name of an asset waits for no transaction that names another asset with it", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* named("Poster"), yield* named("Flyer")]
      const { status } = yield* whileOpen(
        rename(one, "Lente2027 poster"),
        patchAsset(other, { translations: nameOf("Lente2027 flyer") })
      )
      assert.strictEqual(status, 200)
      assert.sameMembers([...(yield* find("letne2027"))], ["Lente2027 poster", "Lente2027 flyer"])
    })
  )

  it.effect("the words of deleted and renamed assets hide no neighbour of a misspelt word", () =>
    Effect.gen(function* () {
      yield* named("Logo")
      const gone = yield* Effect.forEach(["Log", "Loga"], (name) => named(name))
      yield* Effect.forEach(gone, remove)
      yield* patchAsset(yield* named("Logi"), { translations: nameOf("Catalogue") })
      yield* cleanWords
      assert.deepStrictEqual(yield* find("logp"), ["Logo"])
    })
  )

  it.effect("a word that an open transaction has found for its asset stays when no other asset has it any more", () =>
    Effect.gen(function* () {
      const [last, next] = [yield* named("Vlinder"), yield* named("Rups")]
      yield* whileOpen(rename(next, "Vlinder"), Effect.andThen(remove(last), cleanWords))
      assert.deepStrictEqual(yield* find("vlidner"), ["Vlinder"])
      yield* cleanWords
      assert.deepStrictEqual(yield* find("vlidner"), ["Vlinder"])
    })
  )

  it.effect("a word is added again for an asset that gets it while the word is being removed", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* remove(yield* named("Kikker"))
      const next = yield* named("Visje")
      const { status } = yield* whileOpen(
        pooled`select waypost_clean_asset_words('', 10000)`,
        patchAsset(next, { translations: nameOf("Kikker") })
      )
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(yield* find("kikkre"), ["Kikker"])
    })
  )

  it.effect("copies of words change no answer, and are removed", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* Effect.forEach(["Bak", "Baka", "Baki", "Zomerkrant", "Winterkrant", "Aardbeientaart"], (name) =>
        named(name)
      )
      const answers = Effect.forEach(["bakp", "krant", "ardbei", "zomer krant"], (search) => find(search))
      const before = yield* answers
      assert.deepStrictEqual(
        before.map(({ length }) => length),
        [3, 2, 1, 1]
      )
      yield* pooled`insert into asset_words select word from asset_words, generate_series(1, 6)`
      assert.deepStrictEqual(yield* answers, before)
      yield* cleanWords
      assert.deepStrictEqual(yield* answers, before)
      const [words] = yield* pooled<{ readonly copies: number }>`
        select count(*)::int - count(distinct word)::int as copies from asset_words`
      assert.strictEqual(words!.copies, 0)
    })
  )

  it.effect(
    "a search compares a limited number of words of the same letter, and finds one that looks alike behind them",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const found = yield* pooled.withTransaction(
          Effect.gen(function* () {
            yield* pooled`insert into asset_words select 'q' || 10000000 + i from generate_series(1, 10001) i`
            yield* pooled`insert into asset_words values ('quadruple')`
            const [row] = yield* pooled<{ readonly compared: number; readonly query: string }>`
            select (select count(*)::int from waypost_words_as_long('quadrulpe')) as compared,
              waypost_similar_asset_query('quadrulpe', 'pg_catalog.english')::text as query`
            yield* pooled`delete from asset_words where word like 'q%'`
            return row!
          })
        )
        assert.strictEqual(found.compared, 10_000)
        assert.include(found.query, "'quadruple'")
      })
  )
})
