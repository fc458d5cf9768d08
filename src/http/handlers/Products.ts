import { Effect, Record } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Api } from "../../api/Api.ts"
import { type ModuleName, pascal } from "../../domain/catalog/ModuleName.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import type { Modules } from "../../domain/catalog/ProductModule.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { ProductModules } from "../../repositories/catalog/ProductModules.ts"
import { Products } from "../../repositories/catalog/Products.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"
import { visibility } from "./reads/Visibility.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "products",
  Effect.fnUntraced(function* (handlers) {
    const products = yield* Products
    const modules = yield* ProductModules
    const module = handlersOf(modules)
    const record = yield* RecordHandlers.make
    const visibleProducts = {
      get: (uuid: ProductId, selection?: Selection) =>
        Effect.flatMap(visibility, (visible) => products.get(uuid, selection, visible))
    }
    return handlers.handleAll({
      ...record("products", products, visibleProducts),
      list: ({ query }) =>
        Envelope.page(
          Included.permitted(
            query,
            Effect.flatMap(visibility, (visible) => products.list(query, visible))
          )
        ),
      create: ({ payload }) => Envelope.written(products.create(payload)),
      update: ({ params, payload, request }) =>
        Envelope.written(products.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(products.delete(params.uuid, Envelope.ifMatch(request))),
      ...module("api"),
      recordApiCall: ({ params, payload, request }) =>
        Envelope.written(modules.recordCall(params.uuid, payload, Envelope.ifMatch(request))),
      ...module("delivery"),
      ...module("distribution"),
      ...module("locations"),
      ...module("files"),
      ...module("stock"),
      ...module("price"),
      ...module("workflow"),
      ...module("socials"),
      ...module("internal-comment"),
      ...module("campaigns"),
      ...module("permissions"),
      ...module("reservations"),
      ...module("template"),
      ...module("form-builder"),
      ...module("variants")
    })
  })
)

interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly params: { readonly uuid: ProductId }
}

/** The three handlers of a module, under the names of its operations. */
const handlersOf =
  (modules: ProductModules["Service"]) =>
  <const Name extends ModuleName>(name: Name) => {
    const get = ({ params }: Asked) =>
      Envelope.one(Effect.flatMap(visibility, (visible) => modules.get(name, params.uuid, visible)))
    const update = ({ params, payload, request }: Asked & { readonly payload: Modules[Name]["update"]["Type"] }) =>
      Envelope.written(
        Effect.flatMap(visibility, (visible) =>
          modules.replace(name, params.uuid, payload, visible, Envelope.ifMatch(request))
        )
      )
    const remove = ({ params, request }: Asked) =>
      Envelope.written(
        Effect.flatMap(visibility, (visible) => modules.remove(name, params.uuid, visible, Envelope.ifMatch(request)))
      )
    return {
      ...Record.singleton(`get${pascal(name)}Module`, get),
      ...Record.singleton(`update${pascal(name)}Module`, update),
      ...Record.singleton(`delete${pascal(name)}Module`, remove)
    }
  }
