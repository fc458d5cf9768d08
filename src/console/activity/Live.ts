import { type InfiniteData, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { Json } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import { keyOf, type List, type Listed, type Part, rowsOf } from "../data/Lists.ts"
import { useSession } from "../session/Session.tsx"

/** How many events the first page of the list has at most. */
const maxEvents = 500

/** The pages with a new event, unless they have it. Of too many events the latest stay, and the page goes on behind them. */
const withEvent = (pages: InfiniteData<Part>, event: Json): InfiniteData<Part> => {
  const [first, ...others] = pages.pages
  if (first === undefined || rowsOf(pages.pages).some(({ id }) => id === event["id"])) return pages
  const data = [event, ...first.data]
  if (data.length <= maxEvents) return { ...pages, pages: [{ ...first, data }, ...others] }
  const kept = data.slice(0, maxEvents / 2)
  return {
    pages: [{ data: kept, cursor: textOf(kept.at(-1)?.["cursor"]), more: true }],
    pageParams: pages.pageParams.slice(0, 1)
  }
}

/** Adds events to a list of the latest ones as they are committed, until that is turned off or fails. */
export const useLive = (listed: Listed, { data, isFetching, refetch }: List<Part>) => {
  const { client } = useSession()
  const queries = useQueryClient()
  const [isLive, setLive] = useState(true)
  const [error, setError] = useState<unknown>()
  // An answer to a request replaces the list, so events that are added while it is on its way would be lost.
  const isOn = isLive && data !== undefined && !isFetching
  useEffect(() => {
    if (!isOn) return undefined
    const ending = new AbortController()
    const follow = async () => {
      const key = keyOf(listed)
      const first = queries.getQueryData<InfiniteData<Part>>(key)?.pages[0]
      const after = textOf(first?.data[0]?.["cursor"]) || textOf(first?.cursor)
      for await (const event of client.events.follow({ after }, { signal: ending.signal })) {
        if (ending.signal.aborted) return
        queries.setQueryData<InfiniteData<Part>>(key, (pages) => pages && withEvent(pages, { ...event }))
      }
    }
    follow().catch((failure: unknown) => {
      if (ending.signal.aborted) return
      setError(failure)
      setLive(false)
    })
    return () => ending.abort()
  }, [client, isOn, listed, queries])
  return {
    error,
    isLive,
    setLive: (next: boolean) => {
      // The cursor that it ended at may be of no use any more.
      if (next && error !== undefined) void refetch()
      setError(undefined)
      setLive(next)
    }
  }
}
