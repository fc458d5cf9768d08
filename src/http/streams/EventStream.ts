import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Reader, SeenEvent } from "../../services/changes/Following.ts"
import { monotonicMillis } from "../../services/MonotonicTime.ts"
import type { OpenStream } from "./Streams.ts"

/** Of one chunk. */
const limits = { events: 500, bytes: 64 * 1024 }

/** JSON has no line breaks, so that every event is one line of data. */
const lineOf = ({ cursor, text, type }: SeenEvent) => `id: ${cursor}\nevent: ${type}\ndata: ${text}\n\n`

/** A comment, with the cursor from which a client goes on that has had no event since. Without data, it is no event of the client. */
const commentOf = (cursor: string, lastId: string | undefined) =>
  cursor === lastId ? ": waiting\n\n" : `: waiting\nid: ${cursor}\n\n`

interface Progress {
  /** When the next comment is due. */
  readonly commentAt: number
  readonly lastId: string | undefined
}

/** Server-sent events, with a comment at the beginning and after each interval, in milliseconds. */
const chunksOf = (reader: Reader, { hold }: OpenStream, interval: number, begin: number) =>
  Stream.unfold({ commentAt: begin, lastId: undefined }, ({ commentAt, lastId }: Progress) =>
    Effect.gen(function* () {
      const events = yield* reader.next(commentAt, limits)
      if (reader.hasEnded()) return undefined
      const now = yield* monotonicMillis
      const sentId = events.at(-1)?.cursor ?? lastId
      const lines = events.map(lineOf).join("")
      const cursor = now >= commentAt ? reader.cursor() : undefined
      const chunk = Buffer.from(cursor === undefined ? lines : lines + commentOf(cursor, sentId))
      yield* hold(chunk.length)
      const next = cursor === undefined ? { commentAt, lastId: sentId } : { commentAt: now + interval, lastId: cursor }
      return [chunk, next] as const
    })
  )

/** The response that streams the events of a reader; the effect makes the reader when the stream begins. */
export const respond = <E, R>(open: OpenStream, reader: Effect.Effect<Reader, E, R>, interval: number) =>
  Effect.gen(function* () {
    const now = yield* monotonicMillis
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
