import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { Lookup, Referenced } from "../../domain/catalog/ModuleShape.ts"
import type { AnyModule } from "../../domain/catalog/ProductModule.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import type { Memberships } from "../people/Memberships.ts"
import * as ProductFiles from "./ProductFiles.ts"

/** Of what a key may be told the names; uuids it always is. */
export interface Visibility {
  readonly users: boolean
  readonly locations: boolean
  readonly groups: boolean
}

/** As much as is needed to judge whether something exists. */
export const noVisibility: Visibility = { users: false, locations: false, groups: false }

export type References = ReturnType<typeof make>

type Facts = Readonly<Record<string, unknown>>
type Wanted = ReadonlyMap<Referenced, ReadonlySet<string>>

/** Everything that settings point at: `resolve` and `rules` are asked, and what they look for is noted. */
const referencesOf = (module: AnyModule, settings: unknown): Wanted => {
  const wanted = new Map<Referenced, Set<string>>()
  const noting: Lookup = (kind, id) => {
    wanted.set(kind, (wanted.get(kind) ?? new Set()).add(id))
    return {}
  }
  module.resolve(settings, noting)
  module.rules(settings, noting)
  return wanted
}

const listOf = (wanted: Wanted, kind: Referenced) => [...(wanted.get(kind) ?? [])]
const filesIn = (wanted: Wanted) => ({ files: listOf(wanted, "files"), assets: listOf(wanted, "assets") })

const people = ["users", "locations", "groups"] as const

const select = {
  users: `select 'users' as kind, uuid, coalesce(nullif(concat_ws(' ', first_name, last_name), ''), username) as name,
    null as identifier from users where uuid = any ($1::uuid[])`,
  locations: `select 'locations', uuid, name, identifier from locations where uuid = any ($2::uuid[])`,
  groups: `select 'groups', uuid, name, null from groups where uuid = any ($3::uuid[])`
}
const selectAll = people.map((kind) => select[kind]).join(" union all ")

const stored = ["files", "assets", "categories"] as const

/** What module settings point at: checked when they are written, and looked up when they are read. */
export const make = (
  pooled: SqlClient.SqlClient,
  memberships: Memberships["Service"],
  publicUrl: PublicUrl["Service"]
) => {
  const productFiles = ProductFiles.make(pooled)
  const selectStored = ProductFiles.factsSql(publicUrl)

  /** Fails with all the records of a kind that settings name and that do not exist; files and assets then stay. */
  const known = Effect.fnUntraced(function* (module: AnyModule, settings: unknown, uuid: string) {
    const wanted = referencesOf(module, settings)
    for (const kind of people) {
      const uuids = wanted.get(kind)
      if (uuids !== undefined) {
        yield* memberships.known(kind, [...uuids]) as Effect.Effect<
          void,
          UserNotFoundError | LocationNotFoundError | GroupNotFoundError
        >
      }
    }
    yield* productFiles.hold(uuid, module.name, filesIn(wanted))
  })

  /** Notes the files and assets that settings name, once they are written. */
  const note = (module: AnyModule, settings: unknown, uuid: string) =>
    productFiles.note(uuid, module.name, filesIn(referencesOf(module, settings)))

  /** What there is of what settings name, and what may be told of it. */
  const lookup = Effect.fnUntraced(function* (
    module: AnyModule,
    settings: unknown,
    visibility: Visibility
  ): Effect.fn.Return<Lookup> {
    const wanted = referencesOf(module, settings)
    if (wanted.size === 0) return () => undefined
    const found = new Map<string, Facts>()
    if (people.some((kind) => wanted.has(kind))) {
      const rows = yield* Effect.orDie(
        pooled.unsafe<{
          readonly kind: keyof Visibility
          readonly uuid: string
          readonly name: string
          readonly identifier: string | null
        }>(
          selectAll,
          people.map((kind) => listOf(wanted, kind))
        )
      )
      for (const { identifier, kind, name, uuid } of rows) {
        found.set(`${kind} ${uuid}`, visibility[kind] ? { name, ...(identifier === null ? {} : { identifier }) } : {})
      }
    }
    if (stored.some((kind) => wanted.has(kind))) {
      const rows = yield* Effect.orDie(
        pooled.unsafe<{ readonly kind: Referenced; readonly id: string; readonly facts: Facts }>(
          selectStored,
          stored.map((kind) => listOf(wanted, kind))
        )
      )
      for (const { facts, id, kind } of rows) found.set(`${kind} ${id}`, facts)
    }
    return (kind, id) => found.get(`${kind} ${id}`)
  })

  return { known, lookup, note }
}
