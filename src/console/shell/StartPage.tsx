import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import definition from "virtual:definition"
import { EventList } from "../activity/EventList.tsx"
import { call, type Json, type Page } from "../data/Calls.ts"
import type { Action, Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const useTotal = (action: Action | undefined, query: Readonly<Record<string, unknown>>) => {
  const { can, client } = useSession()
  const { data } = useQuery({
    queryKey: ["total", action?.group, action?.name, query],
    enabled: can(action),
    queryFn: ({ signal }) => call<Page>(client, action!, { limit: 1, ...query }, { signal })
  })
  return data?.pagination.total
}

const Count = ({ resource }: { readonly resource: Resource }) => {
  const names = useNames()
  const formats = useFormats()
  const total = useTotal(resource.actions.list, {})
  return (
    <li>
      <Link href={`/${resource.name}`}>
        <strong>{total === undefined ? "…" : formats.number(total)}</strong>
        {names.resource(resource.name)}
      </Link>
    </li>
  )
}

const expiringDays = 30
const dayMillis = 86_400_000

const Attention = () => {
  const words = useWords()
  const formats = useFormats()
  const action = (name: string) => definition.actions[name]
  const until = new Date(Math.ceil(Date.now() / dayMillis + expiringDays) * dayMillis).toISOString()
  const quality = useTotal(action("quality.ofLocations"), {})
  const webhooks = useTotal(action("webhooks.list"), { filter: "state:equals:failing" })
  const keys = useTotal(action("apiKeys.list"), { filter: `expiresAt:lt:${until},revokedAt:exists:false` })
  const items = [
    { count: quality, text: words.qualityCount, to: "/locations?view=quality" },
    { count: webhooks, text: words.failedWebhooks, to: "/webhooks?filter=state:equals:failing" },
    { count: keys, text: words.expiringKeys, to: `/api-keys?filter=expiresAt:lt:${until},revokedAt:exists:false` }
  ].filter(({ count }) => count !== undefined && count > 0)
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{words.attention}</h2>
      {items.length === 0 ? (
        <p className="hint">{words.allGood}</p>
      ) : (
        <ul className="attention">
          {items.map(({ count, text, to }) => (
            <li key={to}>
              <Link href={to}>{text(formats.number(count!))}</Link>
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
  const { data } = useQuery({
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
      {data === undefined ? <p className="hint">{words.loading}</p> : <EventList events={data.data} />}
    </section>
  )
}

/** What there is, what needs attention, and what changed lately. */
export const StartPage = () => {
  const words = useWords()
  const { can } = useSession()
  return (
    <>
      <h1>{words.start}</h1>
      <ul className="counts">
        {definition.resources
          .filter(({ actions }) => can(actions.list))
          .map((resource) => (
            <Count key={resource.name} resource={resource} />
          ))}
      </ul>
      <Attention />
      {can(definition.actions["events.list"]) ? <Lately /> : null}
    </>
  )
}
