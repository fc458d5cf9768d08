import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { listed, sealAll } from "../changes/Mirror.ts"
import { resources } from "./Data.ts"
import type { Pair } from "./Pair.ts"

const relations = [
  "user_locations",
  "user_groups",
  "group_locations",
  "meta_tag_categories",
  "asset_category_links",
  "asset_meta_tags"
]
const tables = ["users", "locations", "groups", "products", "posts", "assets", "meta_tag_definitions"]

/** The rows of the tables of records, and of what relates them. */
const rowsOf = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.forEach([...tables, "asset_categories", ...relations], (table) =>
    Effect.map(
      pooled.unsafe<{ readonly row: object }>(
        `select to_jsonb(t) - '{created_at,edited_at,processing,user_set,location_set}'::text[] as row from ${table} t`
      ),
      (rows) => rows.map(({ row }) => `${table} ${JSON.stringify(row)}`)
    )
  )
).pipe(Effect.map((rows) => rows.flat()))

const eventsAfter = (position: number) =>
  Effect.flatMap(
    Sql,
    ({ pooled }) =>
      pooled<Event>`select position::int, record_uuid as "recordUuid", type, action, actor, label, before, after, links
      from events where position > ${position} and type <> 'apiKey' order by position`
  )

interface Event {
  readonly position: number
  readonly recordUuid: string
  readonly type: string
}

const byRecord = (events: ReadonlyArray<Event>, uuidOf: (uuid: string) => string) => {
  const groups = new Map<string, Array<object>>()
  for (const { position: _, recordUuid, ...event } of events) {
    const record = `${event.type} ${uuidOf(recordUuid)}`
    groups.set(record, [...(groups.get(record) ?? []), event])
  }
  return groups
}

/** Compares the lists and their totals, the rows, and the events since the last comparison. */
export const comparer = ({ bulk, identities, single }: Pair) => {
  const [last, compared] = [
    { here: 0, there: 0 },
    { records: 0, events: 0 }
  ]

  const lists = Effect.forEach(resources, (resource) =>
    Effect.gen(function* () {
      const [here, there] = [yield* single(listed(resource)), yield* bulk(listed(resource))]
      compared.records = compared.records + here.size
      if (here.size !== there.size) return [`${resource}: ${here.size} and ${there.size} records`]
      const order = identities.differences([...here.keys()], [...there.keys()], `${resource} by creation`)
      const records = [...here].map(([uuid, record]) =>
        identities.differences(record, there.get(identities.of(uuid)), `${resource} ${uuid}`)
      )
      return [...order, ...records.flat()]
    })
  )

  const rows = Effect.gen(function* () {
    const [here, there] = [yield* single(rowsOf), yield* bulk(rowsOf)]
    const [ours, theirs] = [new Set(identities.translate(here)), new Set(there)]
    return [
      ...[...ours].filter((row) => !theirs.has(row)).map((row) => `only one by one: ${row}`),
      ...[...theirs].filter((row) => !ours.has(row)).map((row) => `only in bulk: ${row}`)
    ]
  })

  const events = Effect.gen(function* () {
    yield* single(sealAll)
    yield* bulk(sealAll)
    const [here, there] = [yield* single(eventsAfter(last.here)), yield* bulk(eventsAfter(last.there))]
    last.here = here.at(-1)?.position ?? last.here
    last.there = there.at(-1)?.position ?? last.there
    compared.events = compared.events + here.length
    const ours = byRecord(here, (uuid) => identities.of(uuid))
    const theirs = byRecord(there, (uuid) => uuid)
    return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((record) =>
      identities.differences(ours.get(record) ?? [], theirs.get(record) ?? [], record)
    )
  })

  const differences = Effect.map(Effect.all([lists, rows, events]), ([lists, rows, events]) => [
    ...lists.flat(),
    ...rows,
    ...events
  ])
  return { compared, differences }
}
