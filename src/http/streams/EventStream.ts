import { Clock, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Reader, SeenEvent } from "../../services/changes/Following.ts"
import type { OpenStream } from "./Streams.ts"

/** Of one chunk. */
const limits = { events: 500, bytes: 64 * 1024 }

/** JSON has no line breaks, so that every event is one line of data. */
const lineOf = ({ cursor, text, type }: SeenEvent) => `id: ${cursor}\nevent: ${type}\ndata: ${text}\n\n`

const comment = ": waiting\n\n"

/** Server-sent events, with a comment at the beginning and after each interval, in milliseconds. */
const chunksOf = (reader: Reader, { hold }: OpenStream, interval: number, now: number) =>
  Stream.unfold(now, (commentAt: number) =>
    Effect.gen(function* () {
      const events = yield* reader.next(commentAt, limits)
      if (reader.hasEnded()) return undefined
      const now = yield* Clock.currentTimeMillis
      const isDue = now >= commentAt
      const chunk = Buffer.from(events.map(lineOf).join("") + (isDue ? comment : ""))
      yield* hold(chunk.length)
      return [chunk, isDue ? now + interval : commentAt] as const
    })
  )

/** The response that streams the events of a reader; the effect makes the reader when the stream begins. */
export const respond = <E, R>(open: OpenStream, reader: Effect.Effect<Reader, E, R>, interval: number) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const services = yield* Effect.context<R>()
    const chunks = Stream.unwrap(Effect.map(reader, (reader) => chunksOf(reader, open, interval, now)))
    return HttpServerResponse.stream(
      Stream.ensuring(Stream.provideContext(chunks, services), Effect.sync(open.close)),
      {
        contentType: "text/event-stream",
        // A proxy passes each event on at once.
        headers: { "cache-control": "private, no-store", "x-accel-buffering": "no" }
      }
    )
  })
