import { Cache, Clock, Effect, Exit, Option, Schedule } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { type ApiKeyId, UnauthorizedError } from "../domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import { CurrentShare } from "../domain/keys/Share.ts"
import type { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"

/** SHA-256: the secret is random, so a slow hash would buy nothing. */
export const hashOf = (secret: string): Uint8Array => hash("sha256", secret, "buffer")

/** Compared against when no key has the id, so that an unknown id costs what a wrong secret does. */
const noHash = hashOf("")

/** How many keys are remembered as known. */
const maxKnown = 100_000

/** A scheme before the key is tolerated, in any case. */
const withoutScheme = (header: string) => header.replace(/^(?:bearer|apikey) +/i, "").trim()

/** Looks up the key of a request; `forget` drops what is cached of one. */
export const make = Effect.fnUntraced(function* (repository: Repository["Service"]) {
  // A failed lookup is not cached, or the end of an outage of the database would show a second late.
  const forASecond = {
    capacity: 10_000,
    timeToLive: (exit: Exit.Exit<unknown>) => (Exit.isSuccess(exit) ? "1 second" : 0)
  } as const
  const stored = yield* Cache.makeWith((id: string) => repository.findById(id), forASecond)
  const fresh = yield* Cache.makeWith((id: string) => repository.findNewById(id), forASecond)
  /** The hashes of the secrets of keys that were right, by id. */
  const known = new Map<string, Uint8Array>()
  const calling = yield* Cache.makeWith((uuid: ApiKeyId) => repository.calling(uuid), forASecond)
  const noteUse = yield* makeUseNotes(repository)

  /**
   * Until a key was right once, its lookups count in the share of its client, so that unknown keys do not delay others. A
   * wrong secret of a known id is looked up as an unknown id is, or the time would reveal that the id exists.
   */
  const find = (id: string, secretHash: Uint8Array, client: string) =>
    timingSafeEqual(secretHash, known.get(id) ?? noHash)
      ? Cache.get(stored, id)
      : Effect.provideService(Cache.get(fresh, id), CurrentShare, { id: client, weight: 1, isAlone: () => true })

  const remember = (id: string, secretHash: Uint8Array) => {
    if (known.has(id)) return
    known.set(id, secretHash)
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  }

  const forget = (id: string) => Effect.andThen(Cache.invalidate(stored, id), Cache.invalidate(fresh, id))

  const authenticate = Effect.fnUntraced(function* (header: string, client = "") {
    const text = withoutScheme(header)
    if (text === "") return yield* UnauthorizedError.of("missing")
    const parts = ApiKeySecret.parse(text)
    if (Option.isNone(parts)) return yield* UnauthorizedError.of("malformed")
    const { id, secret } = parts.value
    const secretHash = hashOf(secret)
    const found = yield* find(id, secretHash, client)
    const expected = Option.isSome(found) ? found.value.secretHash : noHash
    const matches = timingSafeEqual(secretHash, expected)
    if (Option.isNone(found) || !matches) return yield* UnauthorizedError.of("unknown")
    remember(id, secretHash)
    if (found.value.revoked) return yield* UnauthorizedError.of("revoked")
    if (found.value.expired) return yield* UnauthorizedError.of("expired")
    noteUse(found.value.uuid, yield* Clock.currentTimeMillis)
    return yield* Cache.get(calling, found.value.uuid)
  })

  const shareOf = (uuid: ApiKeyId) => Effect.map(Cache.get(calling, uuid), ({ share }) => share)

  return { authenticate, shareOf, forget }
})

/** Uses are collected and written in the background: no request waits, and a busy key costs one row a minute. */
const makeUseNotes = Effect.fnUntraced(function* (repository: Repository["Service"]) {
  const noted = new Map<ApiKeyId, number>()
  const used = new Set<ApiKeyId>()
  const flush = Effect.suspend(() => {
    if (used.size === 0) return Effect.void
    const uuids = [...used]
    used.clear()
    return repository.touch(uuids)
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("Could not note when keys were last used", cause)))
  yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced("1 second")))
  yield* Effect.addFinalizer(() => flush)
  return (uuid: ApiKeyId, now: number) => {
    if (now - (noted.get(uuid) ?? 0) < 60_000) return
    noted.set(uuid, now)
    used.add(uuid)
  }
})
