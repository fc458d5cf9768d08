import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { Post } from "../../../domain/posts/Post.ts"
import { constraintErrors } from "../../posts/PostRules.ts"
import { columnsToRestore, existing, missing, type Target, writeRow } from "./Restoration.ts"

interface Named {
  readonly uuid: string
}

interface Audience {
  readonly groups: ReadonlyArray<Named>
  readonly locations: ReadonlyArray<Named>
}

/** What a post refers to. */
interface References {
  readonly author?: Named | null
  readonly audience: Audience
  readonly cover_asset_uuid?: string | null
  readonly media_asset_uuids?: ReadonlyArray<string> | null
  readonly status: string
  readonly publish_at?: string | null
}

const columns = columnsToRestore(Post)

const uuids = (list: ReadonlyArray<Named>) => list.map(({ uuid }) => uuid)

export const post = (client: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (target: Target) {
    const state = target.state as unknown as References
    const { audience, author, cover_asset_uuid: cover, media_asset_uuids: media } = state
    const users = yield* existing(client, "users", author ? [author.uuid] : [])
    const groups = yield* existing(client, "groups", uuids(audience.groups))
    const locations = yield* existing(client, "locations", uuids(audience.locations))
    const assets = yield* existing(client, "assets", [...(cover ? [cover] : []), ...(media ?? [])])
    const kept = {
      author: author && users.has(author.uuid) ? author : null,
      audience: {
        ...audience,
        groups: audience.groups.filter(({ uuid }) => groups.has(uuid)),
        locations: audience.locations.filter(({ uuid }) => locations.has(uuid))
      },
      cover_asset_uuid: cover && assets.has(cover) ? cover : null,
      media_asset_uuids: (media ?? []).filter((uuid) => assets.has(uuid)),
      // What was to be published then is not published now.
      status: (yield* isOverdue(state)) ? "draft" : state.status
    }
    const written = { ...target, state: { ...target.state, ...kept } }
    const changed = yield* writeRow(client, "posts", columns, written).pipe(constraintErrors)
    return {
      changed,
      missing: missing(
        ["author", author && kept.author === null ? 1 : 0],
        ["audience.groups", audience.groups.length - kept.audience.groups.length],
        ["audience.locations", audience.locations.length - kept.audience.locations.length],
        ["coverAssetUuid", cover && kept.cover_asset_uuid === null ? 1 : 0],
        ["mediaAssetUuids", (media ?? []).length - kept.media_asset_uuids.length]
      )
    }
  })

const isOverdue = ({ publish_at: publishAt, status }: References) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => status === "scheduled" && typeof publishAt === "string" && Date.parse(publishAt) <= now
  )
