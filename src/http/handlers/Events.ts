import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { Events } from "../../services/changes/Events.ts"
import { Following, type Reader } from "../../services/changes/Following.ts"
import { monotonicMillis } from "../../services/MonotonicTime.ts"
import type { Selection } from "../../repositories/changes/EventPages.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as EventStream from "../streams/EventStream.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import { Streams } from "../streams/Streams.ts"
import { TimeLimits } from "../transport/Timeout.ts"
import { encodedArray } from "../../domain/schema/Encoded.ts"

/** Bytes of the events in the answer to a waiting request, unless the first one alone has more. */
const maxBytes = 1024 * 1024

interface Wait {
  readonly selection: Selection
  readonly limit: number
  /** In seconds. */
  readonly wait: number
}

const waitNeedsAscending = InvalidRequestError.of([
  { in: "query", path: "wait", code: "notAllowed", message: "Waiting needs the order asc; leave out `wait` or `order`" }
])

export const layer = HandlerGroup.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* Events
    const { follow } = yield* Following
    const streams = yield* Streams
    const { comment } = yield* TimeLimits

    /** Makes the current request last, as a reader of the log from a position. */
    const openFrom = Effect.fnUntraced(function* (position: number, selection: Selection) {
      const key = yield* CurrentApiKey
      let reader: Reader | undefined
      const open = yield* streams.open(() => reader?.end())
      const following = follow({ selection, position, key, onEnd: open.expectEnd })
      return { open, reader: Effect.tap(following, (made) => Effect.sync(() => (reader = made))) }
    })

    /** The first events behind a position, once there are any. */
    const awaited = Effect.fnUntraced(function* (position: number, { limit, selection, wait }: Wait) {
      const { open, reader: following } = yield* openFrom(position, selection)
      yield* Effect.addFinalizer(() => Effect.sync(open.close))
      const reader = yield* following
      const until = (yield* monotonicMillis) + wait * 1000
      const found = yield* reader.next(until, { events: limit, bytes: maxBytes })
      const keyEnd = reader.keyEnd()
      if (keyEnd !== undefined) return yield* keyEnd
      return {
        data: encodedArray(found.map(({ text }) => text)),
        cursor: reader.cursor(),
        more: reader.hasMore()
      }
    }, Effect.scoped)

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { after, limit = 100, order = "asc", wait = 0, ...selection } }) {
        if (wait > 0 && order === "desc") return yield* waitNeedsAscending
        const page = yield* events.page({ ...selection, after, limit, order }, yield* CurrentApiKey)
        const isWaiting = wait > 0 && page.isEmpty && !page.more
        return yield* Envelope.cursorPage(
          isWaiting ? awaited(page.position, { selection, limit, wait }) : Effect.succeed(page)
        )
      }),
      stream: Effect.fnUntraced(function* ({
        headers: { "last-event-id": last = "" },
        query: { after = "", ...selection }
      }) {
        const position = yield* events.begin(last === "" ? { query: after } : { header: last })
        const { open, reader } = yield* openFrom(position, selection)
        return yield* EventStream.respond(open, reader, comment)
      })
    })
  })
)
