import { Context, Effect, Layer, type Schema } from "effect"
import type { CurrentApiKey } from "../../../api/Authorization.ts"
import { Asset, AssetCreate, type AssetId, PartialAsset } from "../../../domain/assets/Asset.ts"
import { AssetCategory, AssetCategoryCreate, PartialAssetCategory } from "../../../domain/assets/AssetCategory.ts"
import {
  MetaTagDefinition,
  MetaTagDefinitionCreate,
  PartialMetaTagDefinition
} from "../../../domain/assets/metaTags/MetaTag.ts"
import { PartialProduct, Product, ProductCreate } from "../../../domain/catalog/Product.ts"
import type { Entity, Permission } from "../../../domain/keys/Permission.ts"
import { Location, LocationCreate, PartialLocation } from "../../../domain/locations/Location.ts"
import { Group, GroupCreate, PartialGroup } from "../../../domain/people/Group.ts"
import { defaultRole, PartialUser, User, UserChange, UserCreate } from "../../../domain/people/User.ts"
import type { UserId } from "../../../domain/people/UserId.ts"
import { PartialPost, Post, PostCreate, type PostId } from "../../../domain/posts/Post.ts"
import { filterableOf } from "../../../domain/query/FilterFields.ts"
import type { Precondition } from "../../../domain/query/Precondition.ts"
import { AssetCategories } from "../../../repositories/assets/AssetCategories.ts"
import { Assets } from "../../../repositories/assets/Assets.ts"
import { MetaTags } from "../../../repositories/assets/MetaTags.ts"
import { type DecodedOperation, decoderOf } from "../../../repositories/bulk/Decoding.ts"
import type { BulkResource } from "../../../repositories/bulk/Resource.ts"
import { valueOf } from "../../../repositories/bulk/Segments.ts"
import { Products } from "../../../repositories/catalog/Products.ts"
import { Locations } from "../../../repositories/locations/Locations.ts"
import { Groups } from "../../../repositories/people/Groups.ts"
import { Users } from "../../../repositories/people/Users.ts"
import { Posts } from "../../../repositories/posts/Posts.ts"
import { viewOf } from "../reads/PostView.ts"
import * as UserRoles from "./UserRoles.ts"

interface Definition extends Pick<BulkResource, "batch"> {
  /** The name of its permissions. */
  readonly entity: Entity
  readonly record: Schema.Top
  readonly create: Schema.Top
  readonly patch: Schema.Top
  /** What a row of a file changes in a record, if that is more than a patch, and the operation that does it. */
  readonly change?: { readonly shape: Schema.Top; readonly update: BulkResource["writes"]["update"] }
  /** The batch whose filters find what the key that makes the request sees, if that differs. */
  readonly batchSeen?: Effect.Effect<BulkResource["batch"], never, CurrentApiKey>
  /** The operations on one record, as the key that makes the request sees them. */
  readonly writes: Effect.Effect<BulkResource["writes"], never, CurrentApiKey>
  /** Permissions that an operation needs in addition. */
  readonly demands?: (operation: DecodedOperation) => ReadonlyArray<Permission | undefined>
}

const prepared = ({
  batch,
  batchSeen = Effect.succeed(batch),
  change,
  create,
  demands = () => [],
  entity,
  patch,
  record,
  writes
}: Definition) => {
  const shapes = { batch, create: decoderOf(create), patch: decoderOf(patch) }
  const planned = change && { patch: decoderOf(change.shape), update: change.update }
  return {
    entity,
    /** What a filter can name. */
    fields: filterableOf(record),
    /** What a file can have columns of. */
    definition: { record, create },
    shapes: { ...shapes, key: batch.key },
    /** Permissions that an operation needs for members of its data. */
    demandsOf: (operation: DecodedOperation): ReadonlyArray<Permission> => [
      ...batch.relations
        .filter((member) => valueOf(operation, member) !== undefined)
        .map((member): Permission => `update:${member}`),
      ...demands(operation).filter((permission) => permission !== undefined)
    ],
    resource: Effect.map(writes, (writes): BulkResource => ({ ...shapes, writes })),
    /** How plans write the records of the resource. */
    planned: Effect.zipWith(batchSeen, writes, (batch, writes): BulkResource =>
      planned === undefined
        ? { ...shapes, batch, writes }
        : { ...shapes, batch, patch: planned.patch, writes: { ...writes, update: planned.update } }
    )
  }
}

const make = Effect.gen(function* () {
  const assets = yield* Assets
  const assetCategories = yield* AssetCategories
  const groups = yield* Groups
  const locations = yield* Locations
  const metaTags = yield* MetaTags
  const posts = yield* Posts
  const products = yield* Products
  const users = yield* Users
  const permissionForRole = yield* UserRoles.make

  return {
    locations: prepared({
      entity: "locations",
      record: Location,
      create: LocationCreate,
      patch: PartialLocation,
      batch: locations.bulk,
      writes: Effect.succeed(locations)
    }),
    users: prepared({
      entity: "users",
      record: User,
      create: UserCreate,
      patch: PartialUser,
      batch: users.bulk,
      change: {
        shape: UserChange,
        update: (uuid: UserId, change: UserChange, precondition: Precondition) =>
          users.change(uuid, change, precondition)
      },
      writes: Effect.succeed(users),
      demands: (operation) => [
        permissionForRole(valueOf(operation, "role"), operation.op === "create" ? defaultRole : undefined)
      ]
    }),
    groups: prepared({
      entity: "groups",
      record: Group,
      create: GroupCreate,
      patch: PartialGroup,
      batch: groups.bulk,
      writes: Effect.succeed(groups)
    }),
    products: prepared({
      entity: "products",
      record: Product,
      create: ProductCreate,
      patch: PartialProduct,
      batch: products.bulk,
      writes: Effect.succeed(products)
    }),
    posts: prepared({
      entity: "posts",
      record: Post,
      create: PostCreate,
      patch: PartialPost,
      batch: posts.bulk,
      batchSeen: Effect.map(viewOf(), (view) => posts.bulkSeen(view)),
      writes: Effect.map(viewOf(), (view) => ({
        ...posts,
        update: (uuid: PostId, patch: PartialPost, precondition: Precondition) =>
          posts.update(uuid, patch, view, precondition),
        delete: (uuid: PostId, precondition: Precondition) => posts.delete(uuid, view, precondition)
      }))
    }),
    assets: prepared({
      entity: "assets",
      record: Asset,
      create: AssetCreate,
      patch: PartialAsset,
      batch: assets.bulk,
      writes: Effect.succeed({
        ...assets,
        delete: (uuid: AssetId, precondition: Precondition) => assets.delete(uuid, false, precondition)
      })
    }),
    metaTags: prepared({
      entity: "meta-tags",
      record: MetaTagDefinition,
      create: MetaTagDefinitionCreate,
      patch: PartialMetaTagDefinition,
      batch: metaTags.bulk,
      writes: Effect.succeed(metaTags)
    }),
    assetCategories: prepared({
      entity: "meta-tags",
      record: AssetCategory,
      create: AssetCategoryCreate,
      patch: PartialAssetCategory,
      batch: assetCategories.bulk,
      writes: Effect.succeed(assetCategories)
    })
  }
})

/** The resources whose records are written many at a time. */
export class BulkResources extends Context.Service<BulkResources, Effect.Success<typeof make>>()(
  "waypost/http/handlers/writes/BulkResources"
) {
  static readonly layer = Layer.effect(BulkResources, make)
}
