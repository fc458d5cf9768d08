import { Context, Effect, Layer, String as Str } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import type { FileNotFoundError } from "../../domain/assets/File.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { Location, type LocationId, LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { LocationMediaInput, MediaItemInput, TranslationLabel } from "../../domain/locations/LocationMedia.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import * as Written from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { originsSql, urlsSql } from "../assets/Files.ts"
import { lockAssets, lockFiles } from "../assets/FileLocks.ts"
import { type Computed, extract, row } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import * as Reads from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

/** The computed members of a location; it is sorted by the city and the country, which have columns too. */
export const computedOf = (publicUrl: PublicUrl["Service"]): Computed => ({
  address: { column: "address", paths: { city: row("city"), countryCode: row("country_code") } },
  media: mediaOf(publicUrl)
})

/** The media of a location are read only where it has some, and a condition is on the rows of the media themselves. */
const mediaOf = (publicUrl: PublicUrl["Service"]): Computed[string] => ({
  sql: sql`case when t.has_media then waypost_location_media(t.uuid, ${originsSql(publicUrl)}) else '{"items": []}'::jsonb end`,
  condition: ({ segments: [, kind, member, leaf] }, compare) => {
    const matches = () => {
      switch (member) {
        case "labels":
          return sql`exists (select from jsonb_array_elements(m.labels) label
            where ${compare(sql`(${extract(sql`label`, [leaf!])})`)})`
        case "type":
          return compare(typeSql)
        default:
          return compare(sql.literal(`m.${Str.camelToSnake(member!)}`))
      }
    }
    return sql`(t.has_media and t.uuid in (select m.location_uuid from location_media m left join assets a on a.uuid = m.asset_uuid
      join files f on f.uuid = coalesce(m.file_uuid, a.file_uuid)
      where ${kind === "logo" ? sql`m.is_logo` : sql`not m.is_logo`} and ${matches()}))`
  }
})

/** The media of a location, from the rows of a statement; `waypost_location_media` reads those of the tables. */
export const mediaOfRows = (publicUrl: PublicUrl["Service"]): Fragment => sql`(
  select jsonb_build_object('items', '[]'::jsonb) || coalesce(jsonb_object_agg(kind, content), '{}') from (
    select case when m.is_logo then 'logo' else 'items' end as kind,
      case when m.is_logo then jsonb_agg(item)->0 else jsonb_agg(item order by m.position) end as content
    from location_media m left join assets a on a.uuid = m.asset_uuid
    join files f on f.uuid = coalesce(m.file_uuid, a.file_uuid),
    lateral (select jsonb_strip_nulls(jsonb_build_object('uuid', m.uuid, 'assetUuid', m.asset_uuid,
      'fileUuid', m.file_uuid, 'role', m.role, 'type', ${typeSql}, 'urls', ${urlsSql(publicUrl)} - 'cdnUrl',
      'position', m.position, 'labels', m.labels)) as item) items
    where m.location_uuid = t.uuid group by m.is_logo
  ) parts)`

const typeSql = sql`(case when f.mime_type like 'image/%' then 'image' when f.mime_type like 'video/%' then 'video' else 'document' end)`

type WrittenLocation = Written.Written<"locations", LocationId>

/** A stored item, with the members that are compared. */
interface Row {
  readonly uuid: string
  readonly assetUuid: string | null
  readonly fileUuid: string | null
  readonly isLogo: boolean
  readonly role: string
  readonly position: number
  readonly labels: ReadonlyArray<TranslationLabel>
}

const isSameItem = (a: Omit<Row, "uuid">, b: Omit<Row, "uuid">) =>
  a.assetUuid === b.assetUuid && a.fileUuid === b.fileUuid && a.isLogo === b.isLogo && a.role === b.role

/** The media and the translated labels of locations, in PostgreSQL. */
export class LocationMedia extends Context.Service<
  LocationMedia,
  {
    /** Replaces the media; an item that stays keeps its uuid. */
    replace(
      uuid: LocationId,
      media: LocationMediaInput,
      precondition: Precondition
    ): Effect.Effect<
      WrittenLocation,
      LocationNotFoundError | AssetNotFoundError | FileNotFoundError | InvalidLocaleError
    >
    replaceLabels(
      uuid: LocationId,
      labels: ReadonlyArray<TranslationLabel>,
      precondition: Precondition
    ): Effect.Effect<WrittenLocation, LocationNotFoundError | InvalidLocaleError>
  }
>()("waypost/repositories/locations/LocationMedia") {
  static readonly layer = Layer.effect(
    LocationMedia,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const locales = yield* Locales
      const { lock } = yield* Reads.make({
        table: "locations",
        record: Location,
        notFound: LocationNotFoundError,
        computed: computedOf(yield* PublicUrl)
      })

      const replaceLabels = Effect.fnUntraced(
        function* (uuid: LocationId, labels: ReadonlyArray<TranslationLabel>, precondition: Precondition) {
          yield* lock(uuid, precondition)
          const checked = yield* checkLocales(locales, labels)
          const changed = yield* pooled`
            update locations set translation_labels = ${JSON.stringify(checked)}::jsonb, ${Reads.touched("locations")}
              where uuid = ${uuid} and translation_labels <> ${JSON.stringify(checked)}::jsonb returning uuid`
          return Written.updated("locations", uuid, changed.length > 0)
        },
        (write) => transaction(pooled, write)
      )

      const rowOf = Effect.fnUntraced(function* (
        item: Pick<MediaItemInput, "assetUuid" | "fileUuid" | "labels">,
        place: Pick<Row, "isLogo" | "position" | "role">
      ) {
        return {
          assetUuid: item.assetUuid ?? null,
          fileUuid: item.fileUuid ?? null,
          labels: yield* checkLocales(locales, item.labels ?? []),
          ...place
        }
      })

      const wantedRows = Effect.fnUntraced(function* ({ items, logo }: LocationMediaInput) {
        const rows = yield* Effect.forEach(items, (item, position) =>
          rowOf(item, { isLogo: false, position, role: item.role })
        )
        return logo ? [yield* rowOf(logo, { isLogo: true, position: 0, role: "logo" }), ...rows] : rows
      })

      const replace = Effect.fnUntraced(
        function* (uuid: LocationId, media: LocationMediaInput, precondition: Precondition) {
          yield* lock(uuid, precondition)
          const stored = [
            ...(yield* pooled<Row>`
              select uuid, asset_uuid as "assetUuid", file_uuid as "fileUuid", is_logo as "isLogo", role, position, labels
                from location_media where location_uuid = ${uuid} order by is_logo desc, position`)
          ]
          const sent = media.logo ? [media.logo, ...media.items] : media.items
          yield* lockAssets(pooled, uuidsOf(sent, "assetUuid"))
          // Files that are detached are locked together with those that are attached.
          yield* lockFiles(pooled, [...uuidsOf(sent, "fileUuid"), ...uuidsOf(stored, "fileUuid")])
          const wanted = yield* wantedRows(media)
          const before = JSON.stringify(stored.map(comparable))
          const rows = wanted.map((row) => {
            const kept = stored.findIndex((candidate) => isSameItem(candidate, row))
            const [same] = kept === -1 ? [] : stored.splice(kept, 1)
            return { uuid: same?.uuid ?? SecureRandom.uuidV7Unsafe(), ...row }
          })
          if (JSON.stringify(rows.map(comparable)) === before) return Written.updated("locations", uuid, false)
          // A file that stays is let go and taken again, which no other transaction sees.
          yield* pooled`delete from location_media where location_uuid = ${uuid}`
          yield* pooled`${insertSql(uuid, rows)}`
          yield* pooled`
            update locations set has_media = ${rows.length > 0}, ${Reads.touched("locations")} where uuid = ${uuid}`
          return Written.updated("locations", uuid, true)
        },
        (write) => transaction(pooled, write)
      )

      return traced(LocationMedia, { replace, replaceLabels })
    })
  )
}

/** Items as rows, without the uuid of their location. */
export const rowsSql = (items: ReadonlyArray<unknown>): Fragment => sql`
  select (item->>'uuid')::uuid, (item->>'assetUuid')::uuid, (item->>'fileUuid')::uuid, (item->>'isLogo')::boolean,
    item->>'role' collate "C", (item->>'position')::int, item->'labels' from jsonb_array_elements(${JSON.stringify(items)}::jsonb) item`

export const insertSql = (location: string, items: ReadonlyArray<unknown>): Fragment => sql`
  insert into location_media (location_uuid, uuid, asset_uuid, file_uuid, is_logo, role, position, labels)
    select ${location}::uuid, sent.* from (${rowsSql(items)}) sent`

const uuidsOf = <Member extends "assetUuid" | "fileUuid">(
  rows: ReadonlyArray<{ readonly [M in Member]?: string | null }>,
  member: Member
) => rows.flatMap((row) => row[member] ?? [])

/** The members of a row in one order. */
const comparable = ({ assetUuid, fileUuid, isLogo, labels, position, role, uuid }: Row) => [
  uuid,
  assetUuid,
  fileUuid,
  isLogo,
  role,
  position,
  labels.map(({ key, label, locale }) => [key, locale, label])
]
