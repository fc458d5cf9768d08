import { callTo } from "../Service.ts"

/** A connection error counts as a failed request. */
const unsent = ({ cause, message }: Error) => ({
  status: 0,
  text: cause instanceof Error ? cause.message : message,
  body: undefined
})

/** What each collection is sent, by a name that no other record has: a new record, and a change of it. */
const collections: Readonly<Record<string, (name: string) => readonly [record: object, change: object]>> = {
  locations: (identifier) => [{ name: "Restarted", identifier }, { name: identifier }],
  groups: (name) => [{ name }, { description: "Restarted" }],
  users: (username) => [{ username, email: `${username}@example.com` }, { firstName: "Restarted" }],
  products: (identifier) => [{ type: "default", name: "Restarted", identifier }, { description: identifier }],
  posts: (title) => [{ type: "news", translations: [{ locale: "en", title }] }, { type: "announcement" }],
  "asset-categories": (key) => [{ key, translations: [{ locale: "en", name: key }] }, { position: 2 }]
}

/** Clients that create, read, list and change records until they stop, with each request on a connection of its own. */
export const start = (url: string, clients = 16) => {
  const ending = new AbortController()
  const counts = { requests: 0 }
  const failures: Array<string> = []
  const created: Array<string> = []
  const call = (method: string, path: string, body?: unknown) =>
    callTo(url)(method, path, body, { connection: "close" }).catch(unsent)
  const request = async (expected: number, ...[method, path, body]: Parameters<typeof call>) => {
    const answer = await call(method, path, body)
    counts.requests++
    if (answer.status !== expected) failures.push(`${method} ${path} ${answer.status} ${answer.text}`)
    return answer
  }
  const client = async (_: unknown, number: number) => {
    for (let turn = 0; !ending.signal.aborted; turn++) {
      for (const [collection, write] of Object.entries(collections)) {
        const [record, change] = write(`restarted-${number}-${turn}`)
        const { body, status } = await request(201, "POST", `/v1/${collection}`, record)
        if (status !== 201) continue
        const path = `/v1/${collection}/${body.data.uuid}`
        created.push(path)
        await request(200, "GET", path)
        await request(200, "PATCH", path, change)
        await request(200, "GET", `/v1/${collection}?limit=5`)
      }
    }
  }
  const load = Promise.all(Array.from({ length: clients }, client))
  return {
    /** Ends the clients; returns how many requests they sent, those that failed, and the records that cannot be read. */
    stop: async () => {
      ending.abort()
      await load
      const lost: Array<string> = []
      for (const path of created) {
        const { status } = await call("GET", path)
        if (status !== 200) lost.push(path)
      }
      return { requests: counts.requests, failures, lost }
    }
  }
}
