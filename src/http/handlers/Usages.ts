import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { AssetCategoryNotFoundError } from "../../domain/assets/AssetCategory.ts"
import { MetaTagNotFoundError } from "../../domain/assets/metaTags/MetaTag.ts"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import { visibleTo } from "../../domain/changes/RecordType.ts"
import { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { GroupNotFoundError } from "../../domain/people/Group.ts"
import { UserNotFoundError } from "../../domain/people/User.ts"
import type { UsedType } from "../../repositories/access/References.ts"
import { Usages } from "../../repositories/access/Usages.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

interface Asked {
  readonly params: { readonly uuid: string }
  readonly query: { readonly limit?: number | undefined; readonly page?: number | undefined }
}

export const layer = HandlerGroup.group(
  Api,
  "usages",
  Effect.fnUntraced(function* (handlers) {
    const usages = yield* Usages
    const usagesOf =
      <NotFound>(type: UsedType, notFound: (uuid: string) => NotFound) =>
      ({ params: { uuid }, query }: Asked) =>
        Envelope.countedPage(
          Effect.gen(function* () {
            const { permissions } = yield* CurrentApiKey
            const page = yield* usages.list(type, uuid, { ...query, visible: visibleTo(permissions) })
            return yield* Effect.fromOption(page, () => notFound(uuid))
          })
        )
    return handlers.handleAll({
      ofUser: usagesOf("user", UserNotFoundError.of),
      ofLocation: usagesOf("location", LocationNotFoundError.of),
      ofGroup: usagesOf("group", GroupNotFoundError.of),
      ofAsset: usagesOf("asset", AssetNotFoundError.of),
      ofProduct: usagesOf("product", ProductNotFoundError.of),
      ofMetaTag: usagesOf("metaTag", MetaTagNotFoundError.of),
      ofAssetCategory: usagesOf("assetCategory", AssetCategoryNotFoundError.of)
    })
  })
)
