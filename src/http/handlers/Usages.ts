import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { typeOfKind, visibleTo } from "../../domain/changes/RecordType.ts"
import { Usages } from "../../repositories/access/Usages.ts"
import { type Kinds, notFound } from "../../repositories/changes/RecordKinds.ts"
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
      <K extends Exclude<keyof Kinds, "posts">>(kind: K) =>
      ({ params: { uuid }, query }: Asked) =>
        Envelope.countedPage(
          Effect.gen(function* () {
            const { permissions } = yield* CurrentApiKey
            const page = yield* usages.list(typeOfKind[kind], uuid, { ...query, visible: visibleTo(permissions) })
            return yield* Effect.fromOption(page, () => notFound[kind].of(uuid))
          })
        )
    return handlers.handleAll({
      ofUser: usagesOf("users"),
      ofLocation: usagesOf("locations"),
      ofGroup: usagesOf("groups"),
      ofAsset: usagesOf("assets"),
      ofProduct: usagesOf("products"),
      ofMetaTag: usagesOf("metaTags"),
      ofAssetCategory: usagesOf("assetCategories")
    })
  })
)
