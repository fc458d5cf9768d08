import { type Asset, AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { type AssetCategory, AssetCategoryNotFoundError } from "../../domain/assets/AssetCategory.ts"
import { type MetaTagDefinition, MetaTagNotFoundError } from "../../domain/assets/metaTags/MetaTag.ts"
import { type Product, ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { RecordKind } from "../../domain/changes/RecordType.ts"
import { type Location, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { type Group, GroupNotFoundError } from "../../domain/people/Group.ts"
import { type User, UserNotFoundError } from "../../domain/people/User.ts"
import { type Post, PostNotFoundError } from "../../domain/posts/Post.ts"

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
