import { useInfiniteQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { Empty, Failure } from "../shell/Failure.tsx"
import { call, type Json } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useWords } from "../words/Words.tsx"
import { EventList } from "./EventList.tsx"

interface Events {
  readonly data: ReadonlyArray<Json>
  readonly cursor: string
  readonly more: boolean
}

const pageSize = 50
const mostLive = 500

/** Changes as they are committed, the latest first. */
const useLive = (isOn: boolean, after: string | undefined) => {
  const { client } = useSession()
  const [events, setEvents] = useState<ReadonlyArray<Json>>([])
  useEffect(() => {
    if (!isOn || after === undefined) return
    const ending = new AbortController()
    const follow = async () => {
      for await (const event of client.events.follow({ after }, { signal: ending.signal })) {
        setEvents((known) => [event as unknown as Json, ...known].slice(0, mostLive))
      }
    }
    follow().catch(() => undefined)
    return () => ending.abort()
  }, [client, isOn, after])
  return events
}

const EventsPage = () => {
  const words = useWords()
  const { client } = useSession()
  const [isLive, setLive] = useState(true)
  const { data, error, fetchNextPage, hasNextPage, isPending, refetch } = useInfiniteQuery({
    queryKey: ["events"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<Events>(
        client,
        { group: "events", name: "list" },
        { limit: pageSize, order: "desc", ...(pageParam === undefined ? {} : { after: pageParam }) },
        { signal }
      ),
    getNextPageParam: ({ cursor, more }) => (more ? cursor : undefined),
    staleTime: Infinity
  })
  const first = data?.pages[0]?.data[0]
  const newer = useLive(isLive, typeof first?.["cursor"] === "string" ? first["cursor"] : undefined)
  const older = data?.pages.flatMap((page) => page.data) ?? []
  return (
    <>
      <h1>{words.activity}</h1>
      <label className="check">
        <input type="checkbox" checked={isLive} onChange={(event) => setLive(event.target.checked)} />
        {words.live}
      </label>
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      {isPending ? <p className="hint">{words.loading}</p> : null}
      <EventList events={[...newer, ...older]} />
      {data !== undefined && older.length === 0 && newer.length === 0 ? <Empty title={words.noHistory} /> : null}
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          {words.more}
        </button>
      ) : null}
    </>
  )
}

export default EventsPage
