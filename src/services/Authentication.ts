import { Cache, Clock, Effect, Exit, Option, Schedule } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { type ApiKeyId, type CallingKey, UnauthorizedError } from "../domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import { CurrentShare } from "../domain/keys/Share.ts"
import type { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import { monotonicMillis, monotonicMillisOf } from "./MonotonicTime.ts"

/** SHA-256: the secret is random, so a slow hash would buy nothing. */
export const hashOf = (secret: string): Uint8Array => hash("sha256", secret, "buffer")

/** Compared against when no key has the id, so that an unknown id costs what a wrong secret does. */
const noHash = hashOf("")

/** How many keys are remembered as known. */
const maxKnown = 100_000

/** How many headers of requests are remembered with their keys. */
const maxVerified = 10_000

/** How long what was read of a key is used, in milliseconds. */
const lifetime = 1000

/** What was read, with the time until which it is used. */
interface Dated<A> {
  readonly value: A
  readonly until: number
}

/** The time counts from the beginning of the read, because a later change is not in it. */
const dated = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<Dated<A>, E, R> =>
  Clock.clockWith((clock) => {
    const until = monotonicMillisOf(clock) + lifetime
    return Effect.map(read, (value) => ({ value, until }))
  })

/** What a cache has, read again once its time is over. The cache itself would go by the clock, which can be set back. */
const used = <Key, A, E>(cache: Cache.Cache<Key, Dated<A>, E>, key: Key) =>
  Clock.clockWith((clock) => {
    const now = monotonicMillisOf(clock)
    return Effect.flatMap(Cache.get(cache, key), (found) =>
      found.until > now
        ? Effect.succeed(found)
        : Effect.andThen(
            Cache.invalidateWhen(cache, key, (value) => value === found),
            Cache.get(cache, key)
          )
    )
  })

/** A header whose key was verified. */
interface Verified {
  readonly id: string
  readonly key: CallingKey
  readonly until: number
}

/** A scheme before the key is tolerated, in any case. */
const withoutScheme = (header: string) => header.replace(/^(?:bearer|apikey) +/i, "").trim()

/** Looks up the key of a request; `forget` drops what is cached of one. */
export const make = Effect.fnUntraced(function* (
  repository: Pick<Repository["Service"], "calling" | "findById" | "findNewById" | "touch">
) {
  // A failed lookup is not cached, or the end of an outage of the database would show a second late.
  const keptOnSuccess = {
    capacity: 10_000,
    timeToLive: (exit: Exit.Exit<unknown>) => (Exit.isSuccess(exit) ? Infinity : 0)
  } as const
  const stored = yield* Cache.makeWith((id: string) => dated(repository.findById(id)), keptOnSuccess)
  /** By client and id: a lookup waits in the share of the client that asked first, and another one must not wait with it. */
  const fresh = yield* Cache.makeWith(
    (asked: string) => dated(repository.findNewById(asked.slice(asked.lastIndexOf(" ") + 1))),
    keptOnSuccess
  )
  /** The hashes of the secrets of keys that were right, by id. */
  const known = new Map<string, Uint8Array>()
  const calling = yield* Cache.makeWith((uuid: ApiKeyId) => dated(repository.calling(uuid)), keptOnSuccess)
  const noteUse = yield* makeUseNotes(repository)

  /**
   * Until a key was right once, its lookups count in the share of its client, so that unknown keys do not delay others. A
   * wrong secret of a known id is looked up as an unknown id is, or the time would reveal that the id exists. No client
   * counts as alone: a lookup that waits for too long behind others of its client is over its share, and a 429.
   */
  const find = (id: string, secretHash: Uint8Array, client: string) =>
    timingSafeEqual(secretHash, known.get(id) ?? noHash)
      ? used(stored, id)
      : Effect.provideService(used(fresh, `${client} ${id}`), CurrentShare, {
          id: client,
          weight: 1,
          isAlone: () => false
        })

  const remember = (id: string, secretHash: Uint8Array) => {
    if (known.has(id)) return
    known.set(id, secretHash)
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  }

  /**
   * The keys of headers, as long as all that was read of them is used; most requests need nothing else. A header is found
   * only as a whole: the map compares those whose hashes agree, and their seed is unknown to clients.
   */
  const verified = new Map<string, Verified>()
  const headers = new Map<string, string>()
  const drop = (id: string) => {
    verified.delete(headers.get(id) ?? "")
    headers.delete(id)
  }
  let forgotten = 0
  const forget = (id: string) =>
    Effect.andThen(
      Effect.sync(() => {
        forgotten += 1
        drop(id)
      }),
      // Which clients asked for it is not known.
      Effect.andThen(Cache.invalidate(stored, id), Cache.invalidateAll(fresh))
    )
  yield* Clock.clockWith((clock) =>
    Effect.sync(() => {
      const now = monotonicMillisOf(clock)
      for (const { id, until } of verified.values()) if (until <= now) drop(id)
    })
  ).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)

  const verify = Effect.fnUntraced(function* (header: string, client: string) {
    const text = withoutScheme(header)
    if (text === "") return yield* UnauthorizedError.of("missing")
    const parts = ApiKeySecret.parse(text)
    if (Option.isNone(parts)) return yield* UnauthorizedError.of("malformed")
    const { id, secret } = parts.value
    const secretHash = hashOf(secret)
    const before = forgotten
    const found = yield* find(id, secretHash, client)
    const { until, value } = found
    const matches = timingSafeEqual(secretHash, Option.isSome(value) ? value.value.secretHash : noHash)
    if (Option.isNone(value) || !matches) return yield* UnauthorizedError.of("unknown")
    remember(id, secretHash)
    const { expired, revoked, uuid } = value.value
    if (revoked) return yield* UnauthorizedError.of("revoked")
    if (expired) return yield* UnauthorizedError.of("expired")
    noteUse(uuid, yield* monotonicMillis)
    const caller = yield* used(calling, uuid)
    drop(id)
    // What was forgotten during the lookup was read before.
    if (verified.size < maxVerified && forgotten === before) {
      headers.set(id, header)
      verified.set(header, { id, key: caller.value, until: Math.min(until, caller.until) })
    }
    return caller.value
  })

  const authenticate = (header: string, client = "") =>
    Clock.clockWith((clock) => {
      const now = monotonicMillisOf(clock)
      const entry = verified.get(header)
      if (entry === undefined || entry.until <= now) return verify(header, client)
      noteUse(entry.key.uuid, now)
      return Effect.succeed(entry.key)
    })

  const shareOf = (uuid: ApiKeyId) => Effect.map(used(calling, uuid), ({ value }) => value.share)

  return { authenticate, shareOf, forget }
})

/** How long a use of a key stands for all others, in milliseconds. */
const noteMillis = 60_000

/** Uses are collected and written in the background: no request waits, and a busy key costs one row a minute. */
export const makeUseNotes = Effect.fnUntraced(function* (
  repository: Pick<Repository["Service"], "touch">,
  noted = new Map<ApiKeyId, number>()
) {
  const used = new Set<ApiKeyId>()
  const forgetOld = Effect.map(monotonicMillis, (now) => {
    for (const [uuid, at] of noted) {
      // They are in the order of their times.
      if (now - at < noteMillis) break
      noted.delete(uuid)
    }
  })
  const flush = Effect.suspend(() => {
    if (used.size === 0) return Effect.void
    const uuids = [...used]
    used.clear()
    return repository.touch(uuids)
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("Could not note when keys were last used", cause)))
  yield* Effect.forkScoped(Effect.repeat(Effect.andThen(forgetOld, flush), Schedule.spaced("1 second")))
  yield* Effect.addFinalizer(() => flush)
  return (uuid: ApiKeyId, now: number) => {
    if (now - (noted.get(uuid) ?? -Infinity) < noteMillis) return
    noted.delete(uuid)
    noted.set(uuid, now)
    used.add(uuid)
  }
})
