import { Context, Effect, type Option, Stream } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RouteLimits } from "../../api/Limits.ts"
import { PayloadTooLargeError, RequestTimeoutError } from "../../domain/write/RequestErrors.ts"
import { withMinRate } from "./MinRate.ts"
import * as BulkPlace from "../transport/limits/BulkPlace.ts"
import { CurrentPlace } from "../transport/InFlight.ts"
import { BodyArrived, TimeLimits } from "../transport/Timeout.ts"

/** Whether the body of an endpoint is read as it arrives, and no timer of the server limits it. */
export const isSlow = ({ annotations }: HttpApiEndpoint.Top) =>
  Context.getOrUndefined(annotations, RouteLimits)?.hasSlowBody === true

/** Bytes per second that must arrive on average. */
const minRate = 64 * 1024

const tooSlow = new RequestTimeoutError({
  message: `The file arrived at less than ${minRate / 1024} KiB a second; send it again`
})

const stalled = new RequestTimeoutError({ message: "The rest of the file did not arrive in time; send it again" })

const tooLarge = (max: number) => new PayloadTooLargeError({ message: `A file has at most ${max / 1024 ** 2} MiB` })

const blockBytes = 64 * 1024

/** Copies the bytes of a body into blocks. Kept as they arrive, packets of 100 bytes take ten times as much memory. */
const makeBlocks = () => {
  const blocks: Array<Uint8Array> = []
  let block = new Uint8Array(0)
  let filled = 0
  return {
    add: (chunk: Uint8Array) => {
      for (let at = 0; at < chunk.length;) {
        if (filled === block.length) {
          block = new Uint8Array(blockBytes)
          blocks.push(block)
          filled = 0
        }
        const part = chunk.subarray(at, at + block.length - filled)
        block.set(part, filled)
        filled += part.length
        at += part.length
      }
    },
    all: () => [...blocks.slice(0, -1), block.subarray(0, filled)]
  }
}

/** Ends a handler where it reads the body. */
const needed = Symbol("needed")

/** The body, if it was collected ahead of the handler, or that the handler ends where it reads it. */
const Collected = Context.Reference<ReadonlyArray<Uint8Array> | typeof needed | undefined>(
  "waypost/http/streams/SlowBody/Collected",
  { defaultValue: () => undefined }
)

/** The answer to a request that does not need its body, such as one that is rejected for its query. */
export const answerWithout = <A, E, R>(respond: Effect.Effect<A, E, R>) =>
  Effect.provideService(respond, Collected, needed).pipe(
    Effect.asSome,
    Effect.catchDefect((defect): Effect.Effect<Option.Option<A>> =>
      defect === needed ? Effect.succeedNone : Effect.die(defect)
    )
  )

/** Gives the place of a bulk request up while its next bytes arrive, so that a slow client does not hold it. */
const leavingWhileArriving =
  (place: BulkPlace.BulkPlace | undefined) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.transformPull(bytes, (pull) =>
      Effect.succeed(
        Effect.suspend(() => {
          place?.leave()
          return Effect.tap(pull, () => BulkPlace.enter(place))
        })
      )
    )

/** Reads bodies that may arrive for as long as the answer may take, within limits of idle time and rate. */
export const make = Effect.map(TimeLimits, ({ body: idle, bodyRate: averagedOver }) => {
  /**
   * It holds no place of other keys until its end; it counts in the share of its key. Its bytes also count if they are read as they
   * arrive, because a plan keeps the keys of all rows.
   */
  const arriving = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const place = yield* CurrentPlace
    place.leave()
    const arrived = yield* BodyArrived
    let length = 0
    return request.stream.pipe(
      Stream.timeoutOrElse({ duration: idle, orElse: () => Stream.fail(stalled) }),
      withMinRate({ rate: minRate, averagedOver, slow: tooSlow }),
      Stream.tap((chunk) => BulkPlace.hold(place.bulk, (length += chunk.length))),
      Stream.onEnd(Effect.andThen(BulkPlace.enter(place.bulk), Effect.sync(arrived)))
    )
  })

  return {
    /** The bytes of the body as they arrive, or as they were collected. */
    read: (request: HttpServerRequest.HttpServerRequest) =>
      Effect.flatMap(Collected, (chunks) =>
        chunks === needed
          ? Effect.die(needed)
          : chunks === undefined
            ? Effect.zipWith(arriving(request), CurrentPlace, (bytes, { bulk }) => leavingWhileArriving(bulk)(bytes))
            : Effect.succeed(Stream.fromArray(chunks))
      ),
    /** The whole body. */
    collect: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const max = Number((yield* HttpIncomingMessage.MaxBodySize) ?? Infinity)
      const blocks = makeBlocks()
      let length = 0
      yield* Stream.runForEach(yield* arriving(request), (chunk) => {
        length += chunk.length
        blocks.add(chunk)
        return length > max ? Effect.fail(tooLarge(max)) : Effect.void
      })
      return blocks.all()
    }, Effect.orDie)
  }
})

/** Gives the handler a body that was collected. */
export const provide = (chunks: ReadonlyArray<Uint8Array>) => Effect.provideService(Collected, chunks)
