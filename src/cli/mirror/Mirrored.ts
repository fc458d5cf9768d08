import { Effect, Schema } from "effect"
import type { Client } from "../../client/Client.ts"
import type { DeltaPage } from "../../client/Deltas.ts"
import { Asset } from "../../domain/assets/Asset.ts"
import { AssetCategory } from "../../domain/assets/AssetCategory.ts"
import { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { Product } from "../../domain/catalog/Product.ts"
import { Location } from "../../domain/locations/Location.ts"
import { Group } from "../../domain/people/Group.ts"
import { User } from "../../domain/people/User.ts"
import { Post } from "../../domain/posts/Post.ts"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import type { Failure } from "../Failures.ts"

/** A line of a mirror, or none for a record that is deleted. */
export interface Change {
  readonly uuid: string
  readonly line: string | undefined
}

type Read = (client: Client["Service"], after: string) => Effect.Effect<DeltaPage<Change>, Failure>

type Entry<A> = { readonly uuid: string } & ({ readonly record: A } | { readonly deleted: true })

/** A page of a delta, its records encoded as in the API. */
const lines = <A>(record: Schema.Codec<A, unknown>, page: Effect.Effect<DeltaPage<Entry<A>>, Failure>) => {
  const encode = Schema.encodeEffect(record)
  return Effect.flatMap(page, ({ cursor, data, more }) =>
    Effect.map(
      Effect.forEach(data, (entry) =>
        "record" in entry
          ? Effect.map(encode(entry.record), (json): Change => ({ uuid: entry.uuid, line: JSON.stringify(json) }))
          : Effect.succeed<Change>({ uuid: entry.uuid, line: undefined })
      ),
      (changes) => ({ data: changes, cursor, more })
    )
  )
}

const query = (after: string) => ({ query: { after, limit: maxLimit } })

/** How the delta of each resource is read. */
export const mirrored: Readonly<Record<string, Read>> = {
  users: (client, after) => lines(User, client.users.delta(query(after))),
  locations: (client, after) => lines(Location, client.locations.delta(query(after))),
  groups: (client, after) => lines(Group, client.groups.delta(query(after))),
  products: (client, after) => lines(Product, client.products.delta(query(after))),
  posts: (client, after) => lines(Post, client.posts.delta(query(after))),
  assets: (client, after) => lines(Asset, client.assets.delta(query(after))),
  "meta-tags": (client, after) => lines(MetaTagDefinition, client.metaTags.delta(query(after))),
  "asset-categories": (client, after) => lines(AssetCategory, client.assetCategories.delta(query(after)))
}
