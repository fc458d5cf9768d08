import type { Schema } from "effect"
import { Asset, AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { AssetCategory, AssetCategoryNotFoundError } from "../../domain/assets/AssetCategory.ts"
import { MetaTagDefinition, MetaTagNotFoundError } from "../../domain/assets/metaTags/MetaTag.ts"
import { Product, ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { ManagedType, RecordKind } from "../../domain/changes/RecordType.ts"
import { Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { User, UserNotFoundError } from "../../domain/people/User.ts"
import { Post, PostNotFoundError } from "../../domain/posts/Post.ts"

/** The schema of the records of each type. */
export const schemas = {
  user: User,
  location: Location,
  group: Group,
  product: Product,
  post: Post,
  asset: Asset,
  metaTag: MetaTagDefinition,
  assetCategory: AssetCategory
} as const satisfies Readonly<Record<ManagedType, Schema.Top>>

/** The records of each kind, and the error when one does not exist. */
export interface Kinds {
  readonly users: { readonly record: User; readonly notFound: UserNotFoundError }
  readonly locations: { readonly record: Location; readonly notFound: LocationNotFoundError }
  readonly groups: { readonly record: Group; readonly notFound: GroupNotFoundError }
  readonly products: { readonly record: Product; readonly notFound: ProductNotFoundError }
  readonly posts: { readonly record: Post; readonly notFound: PostNotFoundError }
  readonly assets: { readonly record: Asset; readonly notFound: AssetNotFoundError }
  readonly metaTags: { readonly record: MetaTagDefinition; readonly notFound: MetaTagNotFoundError }
  readonly assetCategories: { readonly record: AssetCategory; readonly notFound: AssetCategoryNotFoundError }
}

export const notFound: { readonly [K in RecordKind]: { readonly of: (uuid: string) => Kinds[K]["notFound"] } } = {
  users: UserNotFoundError,
  locations: LocationNotFoundError,
  groups: GroupNotFoundError,
  products: ProductNotFoundError,
  posts: PostNotFoundError,
  assets: AssetNotFoundError,
  metaTags: MetaTagNotFoundError,
  assetCategories: AssetCategoryNotFoundError
}
