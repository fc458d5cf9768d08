import { filterableOf } from "../../../src/domain/query/FilterFields.ts"
import { extraMembers } from "../../../src/domain/assets/Asset.ts"
import type { Sql } from "postgres"
import { readsOf } from "./asset-reads.ts"
import { collections } from "./collections.ts"
import { everyFilter } from "./filters.ts"
import type { Service } from "../../../test/support/Services.ts"

/** The kinds of requests; each has its own target. */
export const kinds = [
  "get",
  "first page",
  "last page",
  "middle page",
  "relation",
  "filter",
  "every filter",
  "search",
  "cursor",
  "selection",
  "place",
  "readiness"
] as const
export type Kind = (typeof kinds)[number]

/** Equivalent requests at one size. */
export interface Case {
  readonly kind: Kind
  readonly name: string
  readonly paths: ReadonlyArray<string>
  /** For a search: whether the number of hits is independent of the size of the table. */
  readonly isBounded?: boolean
  /** The limit of p50 at every size, in milliseconds. */
  readonly atMost?: number
  /** What it is compared with. */
  readonly against?: Comparison
}

/** Requests that are measured in turn with those of a case, and how much of their cost those may have. */
export interface Comparison {
  readonly paths: ReadonlyArray<string>
  readonly time: number
  readonly bytes?: number
}

/** A service with `size` locations. */
export interface Side {
  readonly size: number
  readonly assets: number
  readonly service: Service
  readonly key: string
  readonly sql: Sql
}

const limit = 25

const filtered = (collection: string, conditions: string, more: ReadonlyArray<string> = []) =>
  `/v1/${collection}?${[`filter=${encodeURIComponent(conditions)}`, ...more].join("&")}`

const pagesOf = (total: number) => ({
  "first page": 1,
  "middle page": Math.max(1, Math.floor(total / limit / 2)),
  "last page": Math.max(1, Math.ceil(total / limit))
})

export const answerOf = async ({ key, service }: Side, path: string) => {
  const response = await fetch(service.url + path, { headers: { authorization: key } })
  const body = await response.json()
  if (response.status !== 200) throw new Error(`${response.status} ${path}: ${JSON.stringify(body)}`)
  return body as { readonly data: ReadonlyArray<never>; readonly pagination: { readonly total: number } }
}

/** All requests of a collection. */
export const casesOf = async (side: Side, name: string): Promise<ReadonlyArray<Case>> => {
  const { fields = [], filters, rareValues, record, sortable } = collections[name]!
  const { sql } = side
  const uuids = await sql.unsafe<Array<{ readonly uuid: string }>>(
    `select uuid from ${name} order by md5(uuid::text) limit 256`
  )
  const rare = await sql.unsafe<Array<{ readonly value: string }>>(`${rareValues} order by md5(uuid::text) limit 16`)
  const path = `/v1/${name}`
  const include = name === "assets" ? `&include=${extraMembers.join(",")}` : ""
  const { data, pagination } = await answerOf(side, `${path}?limit=500${include}`)
  const lists = sortable.flatMap((sortBy) =>
    (["asc", "desc"] as const).flatMap((order) =>
      Object.entries(pagesOf(pagination.total)).map(([kind, page]): Case => ({
        kind: kind as Kind,
        name: `${name} by ${sortBy} ${order}`,
        paths: [`${path}?sortBy=${sortBy}&sortOrder=${order}&page=${page}`]
      }))
    )
  )
  return [
    { kind: "get", name: `a record of ${name}`, paths: uuids.map(({ uuid }) => `${path}/${uuid}`) },
    ...lists,
    ...filters.map((filter): Case => {
      const [conditions = "", ...more] = filter.split("&")
      const values = filter.includes("$") ? rare.map(({ value }) => value) : [""]
      const paths = values.map((value) => filtered(name, conditions.replace("$", value), more))
      return { kind: "filter", name: `${name} ${filter}`, paths }
    }),
    ...everyFilter([...filterableOf(record), ...fields], data).map((filter): Case => ({
      kind: "every filter",
      name: `${name} ${filter.split(":").slice(0, 2).join(" ")}`,
      paths: [filtered(name, filter)]
    }))
  ]
}

/** The lists within a record: of the record with the most members and of the one with the fewest. */
export const relationCases = async ({ sql }: Side): Promise<ReadonlyArray<Case>> => {
  const relations = [
    ["groups", "users", "user_groups", "group_uuid"],
    ["groups", "locations", "group_locations", "group_uuid"],
    ["users", "locations", "user_locations", "user_uuid"],
    ["users", "groups", "user_groups", "user_uuid"],
    ["locations", "users", "user_locations", "location_uuid"],
    ["locations", "groups", "group_locations", "location_uuid"]
  ] as const
  const cases = relations.map(async ([owner, member, table, column]) => {
    const sizes = await sql.unsafe<Array<{ readonly uuid: string; readonly total: number }>>(
      `select ${column} as uuid, count(*)::int as total from ${table} group by 1 order by 2 desc, 1`
    )
    return [sizes[0]!, sizes.at(-1)!].flatMap(({ total, uuid }, index) =>
      Object.entries(pagesOf(total)).map(([page, number]): Case => ({
        kind: "relation",
        name: `${member} of ${index === 0 ? "the largest" : "the smallest"} of ${owner}, ${page}`,
        paths: [`/v1/${owner}/${uuid}/${member}?page=${number}`]
      }))
    )
  })
  return (await Promise.all(cases)).flat()
}

/** Searches of assets. */
export const searchCases = async ({ assets, key, service, sql }: Side): Promise<ReadonlyArray<Case>> => {
  const reads = await readsOf(service, key, sql, assets)
  return reads.map((read): Case => ({ kind: "search", ...read }))
}
