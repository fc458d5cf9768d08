import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Location } from "../../../domain/locations/Location.ts"
import type { PublicUrl } from "../../../settings/PublicUrl.ts"
import { lockFiles } from "../../assets/FileLocks.ts"
import { computedOf, insertSql, rowsSql } from "../../locations/LocationMedia.ts"
import { constraintErrors } from "../../locations/Locations.ts"
import { relate } from "./People.ts"
import { columnsToRestore, existing, missing, others, type Target, touch, writeRow } from "./Restoration.ts"

/** What an item refers to, in addition to its other members. */
const Item = Schema.StructWithRest(
  Schema.Struct({
    assetUuid: Schema.optionalKey(Schema.NullOr(Schema.String)),
    fileUuid: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  others
)
type Item = typeof Item.Type

const decodeItems = Schema.decodeUnknownSync(Schema.Array(Item))
const itemsOf = ({ state }: Target) => decodeItems(state["media"] ?? [])

const uuidsOf = (items: ReadonlyArray<Item>, member: "assetUuid" | "fileUuid") =>
  items.flatMap((item) => item[member] ?? [])

/** Replaces the media where they differ. */
const writeMedia = Effect.fnUntraced(function* (client: SqlClient.SqlClient, uuid: string, items: ReadonlyArray<Item>) {
  const [row] = yield* client<{ readonly isSame: boolean }>`
    with stored as (
      select uuid, asset_uuid, file_uuid, is_logo, role, position, labels from location_media where location_uuid = ${uuid}
    ), wanted as (${rowsSql(items)})
    select not exists (table stored except table wanted) and not exists (table wanted except table stored) as "isSame"`
  if (row!.isSame) return false
  yield* client`delete from location_media where location_uuid = ${uuid}`
  yield* client`${insertSql(uuid, items)}`
  yield* client`update locations set has_media = ${items.length > 0} where uuid = ${uuid}`
  return true
})

export const location = (client: SqlClient.SqlClient, publicUrl: PublicUrl["Service"]) => {
  const columns = columnsToRestore(Location, { computed: computedOf(publicUrl) })
  return Effect.fnUntraced(function* (target: Target) {
    const { exists, state, uuid } = target
    const identifier = String(state["identifier"])
    const changed = yield* writeRow(client, "locations", columns, target).pipe(constraintErrors(identifier))
    const items = itemsOf(target)
    const assets = yield* existing(client, "assets", uuidsOf(items, "assetUuid"))
    const files = yield* existing(client, "files", uuidsOf(items, "fileUuid"))
    const kept = items.filter(({ assetUuid, fileUuid }) => assets.has(assetUuid ?? "") || files.has(fileUuid ?? ""))
    yield* Effect.orDie(lockFiles(client, [...files]))
    const mediaChanged = yield* writeMedia(client, uuid, kept)
    if (mediaChanged && exists && !changed) yield* touch(client, "locations", uuid)
    const relations = yield* relate(client, "locations", target, ["users", "groups"])
    return {
      changed: changed || mediaChanged,
      missing: missing(["media", items.length - kept.length], ...relations)
    }
  })
}
