import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RecordUsage, UsageCounts } from "../../domain/access/Usage.ts"
import { AssetId, AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { AssetCategoryId, AssetCategoryNotFoundError } from "../../domain/assets/AssetCategory.ts"
import { MetaTagId, MetaTagNotFoundError } from "../../domain/assets/metaTags/MetaTag.ts"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { LocationId, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { GroupId, GroupNotFoundError } from "../../domain/people/Group.ts"
import { UserNotFoundError } from "../../domain/people/User.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { UserId } from "../../domain/people/UserId.ts"
import type { Annotatable } from "../Annotations.ts"
import { group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { pages } from "../ListQuery.ts"

/** The schemas of the usages of a record. */
const usagesOf = <Id extends Schema.Top, NotFound extends Schema.Top>(id: Id, notFound: NotFound) => ({
  params: { uuid: id },
  query: pages,
  success: Envelope.CountedPage(RecordUsage, UsageCounts),
  error: notFound
})

const listing =
  (permission: Permission, one: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    operation(
      permission,
      `List usages of ${one}`,
      `Every record that refers to ${one}, with the member that refers, and \`counts\` by type. Records whose \`read:\` permission the key lacks are only counted.`
    )(endpoint)

/** Where records are used. */
export class UsagesApi extends HttpApiGroup.make("usages")
  .add(
    HttpApiEndpoint.get("ofUser", "/users/:uuid/usages", usagesOf(UserId, UserNotFoundError)).pipe(
      listing("read:users", "a user")
    ),
    HttpApiEndpoint.get("ofLocation", "/locations/:uuid/usages", usagesOf(LocationId, LocationNotFoundError)).pipe(
      listing("read:locations", "a location")
    ),
    HttpApiEndpoint.get("ofGroup", "/groups/:uuid/usages", usagesOf(GroupId, GroupNotFoundError)).pipe(
      listing("read:groups", "a group")
    ),
    HttpApiEndpoint.get("ofAsset", "/assets/:uuid/usages", usagesOf(AssetId, AssetNotFoundError)).pipe(
      listing("read:assets", "an asset")
    ),
    HttpApiEndpoint.get("ofProduct", "/products/:uuid/usages", usagesOf(ProductId, ProductNotFoundError)).pipe(
      listing("read:products", "a product")
    ),
    HttpApiEndpoint.get("ofMetaTag", "/meta-tags/:uuid/usages", usagesOf(MetaTagId, MetaTagNotFoundError)).pipe(
      listing("read:meta-tags", "a meta tag")
    ),
    HttpApiEndpoint.get(
      "ofAssetCategory",
      "/asset-categories/:uuid/usages",
      usagesOf(AssetCategoryId, AssetCategoryNotFoundError)
    ).pipe(listing("read:meta-tags", "an asset category"))
  )
  .prefix("/v1")
  .annotateMerge(group("Usages", "Where records are used: every record that refers to another one.")) {}
