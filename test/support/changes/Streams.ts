import { until } from "../Until.ts"
import type { ReadEvent } from "./Feed.ts"

/** An open stream of events. */
export interface Stream extends Disposable {
  readonly status: number
  readonly headers: Headers
  /** The events so far, and the ids and names that they were sent with. */
  readonly events: ReadonlyArray<ReadEvent & { readonly sentId: string; readonly sentType: string }>
  readonly comments: () => number
  /** The last id, of an event or with a comment, as `EventSource` keeps it. */
  readonly lastId: () => string | undefined
  /** Whether the service has ended the stream. */
  readonly hasEnded: () => boolean
  /** Waits until there are so many events. */
  readonly having: (count: number) => Promise<void>
  /** The body of an error. */
  readonly error: () => Promise<{ readonly _tag: string }>
}

const field = (block: string, name: string) =>
  block.split("\n").flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))

/** Opens a stream, and reads it until it is disposed of or ends. */
export const open = async (url: string, headers: Readonly<Record<string, string>>): Promise<Stream> => {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  const events: Array<ReadEvent & { readonly sentId: string; readonly sentType: string }> = []
  const state: { comments: number; hasEnded: boolean; lastId?: string } = { comments: 0, hasEnded: false }

  const add = (block: string) => {
    state.comments += block.split("\n").filter((line) => line.startsWith(":")).length
    const [data] = field(block, "data")
    const [id] = field(block, "id")
    const [event] = field(block, "event")
    if (id !== undefined) state.lastId = id
    if (data === undefined) return
    if (id === undefined || event === undefined) throw new Error(`An event without id or type: ${block}`)
    events.push({ ...(JSON.parse(data) as ReadEvent), sentId: id, sentType: event })
  }
  const read = async () => {
    let rest = ""
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split("\n\n")
      rest = blocks.pop()!
      blocks.forEach(add)
    }
  }
  if (response.status === 200) {
    const ended = () => {
      state.hasEnded = true
    }
    void read().then(ended, ended)
  }
  return {
    status: response.status,
    headers: response.headers,
    events,
    comments: () => state.comments,
    lastId: () => state.lastId,
    hasEnded: () => state.hasEnded,
    having: async (count) => {
      await until(`the stream has ${count} events`, () => events.length >= count)
    },
    error: () => response.json() as Promise<{ readonly _tag: string }>,
    [Symbol.dispose]: () => abort.abort()
  }
}
