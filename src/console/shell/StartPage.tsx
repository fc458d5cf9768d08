import { useQueries, useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import definition from "virtual:definition"
import { EventList } from "../activity/EventList.tsx"
import type { Json } from "../../domain/schema/Json.ts"
import { call, type Page } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"
import { Failure } from "./Failure.tsx"
import { Heading } from "./Heading.tsx"
import { Loaded } from "./Loaded.tsx"

interface Wanted {
  readonly action: Action | undefined
  readonly query?: Readonly<Record<string, unknown>>
}

/** How many records lists have, in their order. */
const useTotals = (lists: ReadonlyArray<Wanted>) => {
  const { client } = useSession()
  return useQueries({
    queries: lists.map(({ action, query = {} }) => ({
      queryKey: ["total", action?.group, action?.name, query],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const { pagination } = await call<Page>(client, action!, { limit: 1, ...query }, { signal })
        return pagination.total ?? 0
      }
    }))
  })
}

/** The failure to read some of several totals. */
const Failed = ({ totals }: { readonly totals: ReturnType<typeof useTotals> }) => {
  const failed = totals.filter(({ error }) => error !== null)
  if (failed[0] === undefined) return null
  return <Failure error={failed[0].error} retry={() => failed.forEach(({ refetch }) => void refetch())} />
}

const Counts = () => {
  const names = useNames()
  const formats = useFormats()
  const { can } = useSession()
  const resources = definition.resources.filter(({ actions }) => can(actions.list))
  const totals = useTotals(resources.map(({ actions }) => ({ action: actions.list })))
  return (
    <>
      <Failed totals={totals} />
      <ul className="counts">
        {resources.map(({ name }, index) => {
          const { data, isPending } = totals[index]!
          return (
            <li key={name}>
              <Link href={`/${name}`}>
                <strong>{data === undefined ? (isPending ? "…" : "–") : formats.number(data)}</strong>
                {names.resource(name)}
              </Link>
            </li>
          )
        })}
      </ul>
    </>
  )
}

const expiringDays = 30
const minuteMillis = 60_000
const dayMillis = 86_400_000

const Attention = () => {
  const words = useWords()
  const formats = useFormats()
  const { can } = useSession()
  // The filter stays the same for a minute.
  const now = Math.floor(Date.now() / minuteMillis) * minuteMillis
  const from = new Date(now).toISOString()
  const until = new Date(now + expiringDays * dayMillis).toISOString()
  const failing = "state:equals:failing"
  const expiring = [
    `expiresAt:gt:${from}`,
    `expiresAt:lt:${until}`,
    "revokedAt:exists:false",
    "replacedByUuid:exists:false"
  ].join(",")
  const items = [
    { name: "quality.ofLocations", text: words.qualityCount, to: "/locations?view=quality" },
    {
      name: "webhooks.list",
      text: words.failedWebhooks,
      to: `/webhooks?filter=${failing}`,
      query: { filter: failing }
    },
    { name: "apiKeys.list", text: words.expiringKeys, to: `/api-keys?filter=${expiring}`, query: { filter: expiring } }
  ].filter(({ name }) => can(definition.actions[name]))
  const totals = useTotals(items.map(({ name, query = {} }) => ({ action: definition.actions[name], query })))
  if (items.length === 0) return null
  const isRead = totals.every(({ data }) => data !== undefined)
  const found = items
    .map((item, index) => ({ ...item, count: totals[index]?.data ?? 0 }))
    .filter(({ count }) => count > 0)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{words.attention}</h2>
      <Failed totals={totals} />
      {totals.some(({ isPending }) => isPending) ? <p className="hint">{words.loading}</p> : null}
      {isRead && found.length === 0 ? <p className="hint">{words.allGood}</p> : null}
      {found.length === 0 ? null : (
        <ul className="attention">
          {found.map(({ count, text, to }) => (
            <li key={to}>
              <Link href={to}>{text(formats.number(count))}</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const latest = 15

const Lately = () => {
  const words = useWords()
  const { client } = useSession()
  const events = useQuery({
    queryKey: ["events", "latest"],
    queryFn: ({ signal }) =>
      call<{ readonly data: ReadonlyArray<Json> }>(
        client,
        { group: "events", name: "list" },
        { limit: latest, order: "desc" },
        { signal }
      )
  })
  return (
    <section aria-labelledby="lately">
      <h2 id="lately">{words.lately}</h2>
      <Loaded query={events}>{({ data }) => <EventList events={data} />}</Loaded>
    </section>
  )
}

/** How many records there are, which need attention, and what changed lately. */
export const StartPage = () => {
  const words = useWords()
  const { can } = useSession()
  return (
    <>
      <Heading text={words.start} />
      <Counts />
      <Attention />
      {can(definition.actions["events.list"]) ? <Lately /> : null}
    </>
  )
}
