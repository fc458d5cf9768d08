import { Context, Effect, Layer } from "effect"
import type { ManagedType } from "../../domain/changes/RecordType.ts"
import type { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { visibleTo } from "../../domain/changes/RecordType.ts"
import type { CallingKey } from "../../domain/keys/ApiKey.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { Deltas, type Place } from "../../repositories/changes/Deltas.ts"
import { Cursors, expired } from "./Cursors.ts"

/** Records that a copy needs, as JSON text, with the cursor behind them. */
export interface EncodedDelta {
  readonly data: Encoded<ReadonlyArray<unknown>>
  readonly cursor: string
  readonly more: boolean
}

export interface MirrorRequest {
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** Keeps the copies that clients have of records up to date. */
export class Mirrors extends Context.Service<
  Mirrors,
  {
    delta(
      type: ManagedType,
      request: MirrorRequest,
      key: Pick<CallingKey, "permissions">
    ): Effect.Effect<EncodedDelta, InvalidRequestError | CursorExpiredError>
  }
>()("waypost/services/changes/Mirrors") {
  static readonly layer = Layer.effect(
    Mirrors,
    Effect.gen(function* () {
      const cursors = yield* Cursors
      const deltas = yield* Deltas

      const delta = Effect.fn("Mirrors.delta")(function* (
        type: ManagedType,
        { after, limit = 100 }: MirrorRequest,
        { permissions }: Pick<CallingKey, "permissions">
      ) {
        const { own, position } = yield* cursors.decode(after, type)
        const place = own === undefined ? undefined : decode(own.place)
        const page = yield* deltas.page({ type, place, limit, visible: visibleTo(permissions) })
        if (place !== undefined && place.position < page.pruned) return yield* expired()
        return {
          data: page.data,
          // The records may be newer than the part of the log that was read. A backup that lacks a change which they show
          // ends before the horizon, so that the cursor has expired after its restoration. That of a page before can be higher,
          // if a replica that is further behind made this one.
          cursor: cursors.encode({
            position: Math.max(position, page.horizon),
            own: { owner: type, place: encode(page.next) }
          }),
          more: page.more
        }
      })

      return Mirrors.of({ delta })
    })
  )
}

const encode = ({ isWhole, last, position, stop }: Place) =>
  [isWhole ? "whole" : "log", position, stop ?? "", last ?? ""].join(" ")

const decode = (place: string): Place => {
  const [part, position, stop, last] = place.split(" ")
  return {
    isWhole: part === "whole",
    position: Number(position),
    stop: stop === "" ? undefined : Number(stop),
    last: last === "" ? undefined : last
  }
}
