import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Post } from "../../../domain/posts/Post.ts"
import { constraintErrors } from "../../posts/PostRules.ts"
import { columnsToRestore, existing, missing, others, type Target, writeRow } from "./Restoration.ts"

const Named = Schema.Struct({ uuid: Schema.String })
type Named = typeof Named.Type

/** What a post refers to, in addition to its other columns. A list of the audience that was cleared is absent. */
const References = Schema.Struct({
  author: Schema.optionalKey(Schema.NullOr(Named)),
  audience: Schema.StructWithRest(
    Schema.Struct({
      groups: Schema.optionalKey(Schema.Array(Named)),
      locations: Schema.optionalKey(Schema.Array(Named))
    }),
    others
  ),
  cover_asset_uuid: Schema.optionalKey(Schema.NullOr(Schema.String)),
  media_asset_uuids: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
  status: Schema.String,
  publish_at: Schema.optionalKey(Schema.NullOr(Schema.String))
})
type References = typeof References.Type

const decode = Schema.decodeUnknownSync(References)

const columns = columnsToRestore(Post)

const uuids = (list: ReadonlyArray<Named>) => list.map(({ uuid }) => uuid)

/** How many items of a list name a record that does not exist. */
const goneOf = (list: ReadonlyArray<Named> | undefined, found: ReadonlySet<string>) =>
  (list ?? []).filter(({ uuid }) => !found.has(uuid)).length

export const post = (client: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (target: Target) {
    const state = decode(target.state)
    const { audience, author, cover_asset_uuid: cover, media_asset_uuids: media } = state
    const users = yield* existing(client, "users", author ? [author.uuid] : [])
    const groups = yield* existing(client, "groups", uuids(audience.groups ?? []))
    const locations = yield* existing(client, "locations", uuids(audience.locations ?? []))
    const assets = yield* existing(client, "assets", [...(cover ? [cover] : []), ...(media ?? [])])
    const kept = {
      author: author && users.has(author.uuid) ? author : null,
      audience: {
        ...audience,
        ...(audience.groups && { groups: audience.groups.filter(({ uuid }) => groups.has(uuid)) }),
        ...(audience.locations && { locations: audience.locations.filter(({ uuid }) => locations.has(uuid)) })
      },
      cover_asset_uuid: cover && assets.has(cover) ? cover : null,
      media_asset_uuids: (media ?? []).filter((uuid) => assets.has(uuid)),
      // What was to be published then is not published now.
      status: (yield* isOverdue(client, state)) ? "draft" : state.status
    }
    const written = { ...target, state: { ...target.state, ...kept } }
    const changed = yield* writeRow(client, "posts", columns, written).pipe(constraintErrors)
    return {
      changed,
      missing: missing(
        ["author", author && kept.author === null ? 1 : 0],
        ["audience.groups", goneOf(audience.groups, groups)],
        ["audience.locations", goneOf(audience.locations, locations)],
        ["coverAssetUuid", cover && kept.cover_asset_uuid === null ? 1 : 0],
        ["mediaAssetUuids", (media ?? []).length - kept.media_asset_uuids.length]
      )
    }
  })

/** Compared with the clock of the database, by which posts are published. */
const isOverdue = (client: SqlClient.SqlClient, { publish_at: publishAt = null, status }: References) =>
  Effect.map(
    client<{ readonly isOverdue: boolean }>`
      select ${status}::text = 'scheduled' and coalesce(${publishAt}::timestamptz <= now(), false) as "isOverdue"`,
    ([row]) => row!.isOverdue
  )
