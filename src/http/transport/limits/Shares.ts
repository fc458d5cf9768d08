import { Context, Effect, Layer } from "effect"
import type { Share } from "../../../domain/keys/Share.ts"
import { limits as planLimits } from "../../../domain/plans/Plan.ts"
import { Settings } from "../../../settings/Config.ts"
import * as Turns from "./Turns.ts"

/** Bytes of answers that this process holds for its clients. The last quarter has room for the largest answer, and some more. */
export const maxUnreadBytes = 80 * 1024 * 1024

/** Smaller answers fit into the buffers of the socket, and are not counted. */
export const minUnreadBytes = 16 * 1024

/** The last part of a pool, which is divided more finely. */
const lastPart = 0.25

/** How much of what is left of the last part a share may have. */
const maxOfLast = 0.25

const none = (): Record<Resource, number> => ({
  requests: 0,
  parts: 0,
  streams: 0,
  bulk: 0,
  bulkPlaces: 0,
  bodyBytes: 0,
  unreadBytes: 0
})

/** Bulk requests and plans that a process works on, whose records are in memory. */
export const MaxBulk = Context.Reference<number>("waypost/http/transport/limits/Shares/MaxBulk", {
  defaultValue: () => 4
})

/** Bytes of bodies for each of these. So many of the largest files leave the last quarter free. */
const bodyBytesOfBulk = Math.ceil(planLimits.fileBytes / (1 - lastPart))

/** How long a share counts as active after its last request. */
const activeMillis = 1000

export type Resource = "requests" | "parts" | "streams" | "bulk" | "bulkPlaces" | "bodyBytes" | "unreadBytes"

interface Tally extends Share {
  readonly used: Record<Resource, number>
  seenAt: number
}

/**
 * What the keys use of this process: requests in flight, bulk requests, their places and the bytes of their bodies, parts of
 * uploads, streams, and bytes of answers that clients have not read. A key may use a part of each (`KEY_SHARE`, `KEY_WEIGHTS`); the
 * rest is left for other keys. Of the last quarter a key may have a quarter of what is left; the first one that comes when it is
 * whole, and has nothing, may take all of it at once. So two keys never take a whole pool, except the places.
 */
export class Shares extends Context.Service<
  Shares,
  {
    /** The share with the uuid of a key. */
    readonly of: (id: string) => Share
    /** Takes an amount, or returns false if the share or the process would exceed its limit. */
    readonly take: (share: Share, resource: Resource, amount?: number) => boolean
    /** Whether an amount exceeds the limit of the share itself, and not only that of the process. */
    readonly exceeds: (share: Share, resource: Resource, amount?: number) => boolean
    /** Takes what is left of an amount within the limits, and returns how much. */
    readonly takeRest: (share: Share, resource: Resource, amount: number) => number
    /** Whether a share that has some can have no more. */
    readonly isUsedUp: (share: Share, resource: Resource) => boolean
    readonly release: (share: Share, resource: Resource, amount?: number) => void
    /** Waits until a request of a share may begin; requests of a share with many in flight take turns. */
    readonly turn: (share: Share) => Effect.Effect<void>
  }
>()("waypost/http/transport/limits/Shares") {
  static readonly layer = Layer.effect(
    Shares,
    Effect.gen(function* () {
      const { KEY_SHARE, KEY_WEIGHTS, MAX_IN_FLIGHT, MAX_STREAMS } = yield* Settings
      const maxBulk = yield* MaxBulk
      const limits: Readonly<Record<Resource, number>> = {
        requests: MAX_IN_FLIGHT,
        parts: MAX_IN_FLIGHT,
        streams: MAX_STREAMS,
        bulk: maxBulk,
        bulkPlaces: maxBulk,
        bodyBytes: maxBulk * bodyBytesOfBulk,
        unreadBytes: maxUnreadBytes
      }
      const used = none()
      const tallies = new Map<string, Tally>()

      const isIdle = (tally: Tally, now: number) =>
        tally.seenAt < now - activeMillis && Object.values(tally.used).every((amount) => amount === 0)

      const make = (id: string): Tally => ({
        id,
        weight: KEY_WEIGHTS.get(id) ?? 1,
        used: none(),
        seenAt: 0,
        isAlone: () => {
          const since = performance.now() - activeMillis
          return !tallies.values().some((other) => other.id !== id && other.seenAt >= since)
        }
      })

      const tallyOf = (id: string) => {
        const known = tallies.get(id)
        if (known !== undefined) return known
        const now = performance.now()
        for (const tally of tallies.values()) if (isIdle(tally, now)) tallies.delete(tally.id)
        const tally = make(id)
        tallies.set(id, tally)
        return tally
      }

      const turn = Turns.make()

      /** A share of everything has only the limit of the process. */
      const maxOf = ({ weight }: Tally, resource: Resource) => {
        const part = KEY_SHARE * weight
        return part >= 1 ? Infinity : Math.ceil(limits[resource] * part)
      }

      /** The last part of the limit of the process, none if a key may use everything. */
      const lastOf = (resource: Resource) =>
        Math.floor(limits[resource] * Math.max(0, Math.min(lastPart, 1 - KEY_SHARE)))

      /** An answer alone may have more bytes than all of them, or it would never be sent. */
      const mayExceed = (held: number, resource: Resource) => resource === "unreadBytes" && held === 0

      /** What is left of the part of a share. */
      const ownRest = (tally: Tally, resource: Resource) => {
        const own = tally.used[resource]
        // `bulk` limits how many bodies a share has.
        return resource === "bodyBytes" || mayExceed(own, resource) ? Infinity : maxOf(tally, resource) - own
      }

      /** What the process has left for a share. */
      const commonRest = (tally: Tally, resource: Resource) => {
        // Their bodies may be arriving; the places of `InFlight` and `bulkPlaces` limit what the process works on.
        if (resource === "requests" || resource === "bulk" || mayExceed(used[resource], resource)) return Infinity
        const own = tally.used[resource]
        const rest = limits[resource] - used[resource]
        const untilLast = rest - lastOf(resource)
        // A place is taken for seconds, and the last quarter would be one that stays free.
        const isWhole = resource === "bulkPlaces" || maxOf(tally, resource) === Infinity
        if (isWhole || (own === 0 && untilLast >= 0)) return rest
        return Math.max(untilLast, Math.min(rest, Math.max(1, Math.floor(rest * maxOfLast)) - own))
      }

      const leftOf = (tally: Tally, resource: Resource) =>
        Math.max(0, Math.min(ownRest(tally, resource), commonRest(tally, resource)))

      const add = (tally: Tally, resource: Resource, amount: number) => {
        tally.used[resource] += amount
        used[resource] += amount
      }

      return Shares.of({
        of: tallyOf,
        turn: (share) => turn(share, tallyOf(share.id).used.requests),
        take: ({ id }, resource, amount = 1) => {
          const tally = tallyOf(id)
          tally.seenAt = performance.now()
          if (amount > leftOf(tally, resource)) return false
          add(tally, resource, amount)
          return true
        },
        exceeds: ({ id }, resource, amount = 1) => amount > ownRest(tallyOf(id), resource),
        takeRest: ({ id }, resource, amount) => {
          const tally = tallyOf(id)
          const taken = Math.min(amount, leftOf(tally, resource))
          add(tally, resource, taken)
          return taken
        },
        isUsedUp: ({ id }, resource) => {
          const tally = tallyOf(id)
          return tally.used[resource] > 0 && leftOf(tally, resource) === 0
        },
        release: ({ id }, resource, amount = 1) => add(tallyOf(id), resource, -amount)
      })
    })
  )
}
