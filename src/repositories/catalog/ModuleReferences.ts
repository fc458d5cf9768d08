import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Json } from "../../domain/schema/Json.ts"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import type { ReferenceKind } from "../../domain/write/Markers.ts"
import type { Lookup, References } from "../../domain/write/References.ts"
import { relationKinds } from "../../domain/write/Relations.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import type { Memberships } from "../people/Memberships.ts"
import { personName } from "../people/PersonName.ts"
import * as ProductFiles from "./ProductFiles.ts"

/** The kinds of records whose names the calling key may read; uuids are always visible. */
export interface Visibility {
  readonly users: boolean
  readonly locations: boolean
  readonly groups: boolean
}

/** Enough to check that records exist. */
export const noVisibility: Visibility = { users: false, locations: false, groups: false }

/** Everything that settings name: checked when they are written, and looked up when they are read. */
export type ModuleReferences = ReturnType<typeof make>

const listOf = (named: References, kind: ReferenceKind) => [...(named.get(kind) ?? [])]
const filesIn = (named: References) => ({ files: listOf(named, "files"), assets: listOf(named, "assets") })

const stored = ["files", "assets", "categories"] as const

export const make = (
  pooled: SqlClient.SqlClient,
  memberships: Memberships["Service"],
  publicUrl: PublicUrl["Service"]
) => {
  const productFiles = ProductFiles.make(pooled)

  /** Fails with all the named records of a kind that do not exist; files and assets are locked until they are noted. */
  const known = Effect.fnUntraced(function* (named: References, module: ModuleName, uuid: string) {
    for (const kind of relationKinds) {
      const uuids = listOf(named, kind)
      if (uuids.length > 0) yield* memberships.known(kind, uuids)
    }
    yield* productFiles.hold(uuid, module, filesIn(named))
  })

  /** Notes the files and assets that settings name, once they are written. */
  const note = (named: References, module: ModuleName, uuid: string) => productFiles.note(uuid, module, filesIn(named))

  /** Looks up the named records, and what may be shown of them. */
  const lookup = Effect.fnUntraced(function* (named: References, visibility: Visibility): Effect.fn.Return<Lookup> {
    const found = new Map<string, Json>()
    if (relationKinds.some((kind) => named.has(kind))) {
      const rows = yield* Effect.orDie(
        pooled<{
          readonly kind: keyof Visibility
          readonly uuid: string
          readonly name: string
          readonly identifier: string | null
        }>`
          select 'users' as kind, uuid, ${personName} as name, null as identifier
            from users u where uuid = any (${listOf(named, "users")}::uuid[])
          union all select 'locations', uuid, name, identifier from locations
            where uuid = any (${listOf(named, "locations")}::uuid[])
          union all select 'groups', uuid, name, null from groups where uuid = any (${listOf(named, "groups")}::uuid[])`
      )
      for (const { identifier, kind, name, uuid } of rows) {
        found.set(`${kind} ${uuid}`, visibility[kind] ? { name, ...(identifier === null ? {} : { identifier }) } : {})
      }
    }
    if (stored.some((kind) => named.has(kind))) {
      const rows = yield* Effect.orDie(
        pooled<{ readonly kind: ReferenceKind; readonly id: string; readonly facts: Json }>`${ProductFiles.factsSql(
          publicUrl,
          listOf(named, "files"),
          listOf(named, "assets"),
          listOf(named, "categories")
        )}`
      )
      for (const { facts, id, kind } of rows) found.set(`${kind} ${id}`, facts)
    }
    return (kind, id) => found.get(`${kind} ${id}`)
  })

  return { known, lookup, note }
}
