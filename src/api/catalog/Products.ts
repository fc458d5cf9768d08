import { Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { FileNotFoundError } from "../../domain/assets/File.ts"
import { GroupNotFoundError } from "../../domain/people/Group.ts"
import { InvalidLocaleError } from "../../domain/schema/Locale.ts"
import { DuplicateIdentifierError, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { type ModuleName, pascal } from "../../domain/catalog/ModuleName.ts"
import { ApiCall } from "../../domain/catalog/modules/Api.ts"
import {
  PartialProduct,
  Product,
  ProductCreate,
  ProductNotFoundError,
  ProductType,
  sortable
} from "../../domain/catalog/Product.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import {
  describeOrigins,
  InvalidTemplateModuleConfigurationError,
  ModuleIncompatibleWithProductTypeError,
  ModuleNotActiveError,
  modules,
  type Modules,
  owns
} from "../../domain/catalog/ProductModule.ts"
import { UserNotFoundError } from "../../domain/people/User.ts"
import type { ReferenceKind, Shaped } from "../../domain/write/Markers.ts"
import { kindsOf } from "../../domain/write/References.ts"
import { group, operation } from "../Describe.ts"
import * as Bulk from "../writes/Bulk.ts"
import * as Delta from "../changes/Delta.ts"
import * as History from "../changes/History.ts"
import * as Restore from "../changes/Restore.ts"
import { productRead } from "../Included.ts"
import * as Envelope from "../Envelope.ts"
import * as Records from "../Records.ts"

const uuid = { uuid: ProductId }
const productErrors = [ProductNotFoundError, DuplicateIdentifierError, InvalidLocaleError] as const
const unavailable = [ProductNotFoundError, ModuleNotActiveError, ModuleIncompatibleWithProductTypeError] as const

/** The errors of settings that name something unknown, by its kind; the rules of a module report the other kinds. */
const unknown = {
  locales: InvalidLocaleError,
  users: UserNotFoundError,
  locations: LocationNotFoundError,
  groups: GroupNotFoundError,
  files: FileNotFoundError,
  assets: AssetNotFoundError
} as const satisfies { readonly [K in ReferenceKind]?: unknown }

export const unknownErrors = (module: Shaped) => {
  const kinds = kindsOf(module)
  return Struct.keys(unknown).flatMap((kind) => (kinds.has(kind) ? [unknown[kind]] : []))
}

/** The error of modules that some types of products do not have. */
const incompatible = (name: ModuleName) =>
  ProductType.literals.every((type) => owns(type, name)) ? [] : [ModuleIncompatibleWithProductTypeError]

const invalidTemplate = (name: ModuleName) => (name === "template" ? [InvalidTemplateModuleConfigurationError] : [])

const readErrors = (name: ModuleName) => [...unavailable, ...invalidTemplate(name)]
const writeErrors = (name: ModuleName) => [
  ProductNotFoundError,
  ...incompatible(name),
  ...unknownErrors(modules[name]),
  ...invalidTemplate(name)
]
const deleteErrors = (name: ModuleName) => [ProductNotFoundError, ModuleNotActiveError, ...incompatible(name)]

const the = <const Part extends "answer" | "update", const Name extends ModuleName>(
  part: Part,
  name: Name
): Modules[Name][Part] => modules[name][part]

/** The three operations on a module, each with its own path, shape and name in the contract. */
const module = <const Name extends ModuleName>(name: Name) => {
  const path = `/:uuid/modules/${name}` as const
  const title = name === "api" ? "API" : name.replaceAll("-", " ")
  const { read, remove } = describeOrigins(name)
  return [
    HttpApiEndpoint.get(`get${pascal(name)}Module`, path, {
      params: uuid,
      success: Envelope.One(the("answer", name)),
      error: readErrors(name)
    }).pipe(operation("read:products", `Get product ${title} module`, read)),
    HttpApiEndpoint.put(`update${pascal(name)}Module`, path, {
      params: uuid,
      payload: the("update", name),
      success: Envelope.Written(ProductId),
      error: writeErrors(name)
    }).pipe(
      operation(
        "update:products",
        `Update product ${title} module`,
        "Activates the module and replaces all its settings; absent members get their defaults."
      )
    ),
    HttpApiEndpoint.delete(`delete${pascal(name)}Module`, path, {
      params: uuid,
      success: Envelope.Written(ProductId),
      error: deleteErrors(name)
    }).pipe(operation("update:products", `Delete product ${title} module`, remove))
  ] as const
}

/** The products of the portal and their modules. */
export class ProductsApi extends HttpApiGroup.make("products")
  .add(
    HttpApiEndpoint.get("list", "/", Records.listIncluding(Product, sortable, productRead)).pipe(
      operation(
        "read:products",
        "List products",
        "A page of products of every type, sorted and filtered. The total is exact."
      )
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: ProductCreate,
      success: Envelope.Created(ProductId),
      error: productErrors
    }).pipe(
      operation(
        "create:products",
        "Create a new product",
        "`type`, `identifier` and `name` are required; a variant also needs `parentUuid` and `optionValues`."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "Product",
        id: ProductId,
        create: ProductCreate,
        patch: PartialProduct,
        key: "identifier",
        errors: [...productErrors]
      })
    ).pipe(Bulk.writing("products", "products")),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(ProductId, Product, "Product")).pipe(
      Delta.mirroring("read:products", "products")
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.getIncluding(ProductId, productRead, ProductNotFoundError)).pipe(
      operation("read:products", "Get a product", "The product with its modules and whether each is active.")
    ),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(ProductId, ProductNotFoundError, [DuplicateIdentifierError])
    ).pipe(Restore.restoring("products", "product")),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(ProductId, ProductNotFoundError)).pipe(
      History.describing("read:products", "product")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialProduct,
      success: Envelope.Written(ProductId),
      error: productErrors
    }).pipe(
      operation(
        "update:products",
        "Update a product",
        "Absent members are unchanged, `null` clears, lists are replaced as a whole. Publishing fails if active modules are invalid; the error lists every problem."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(ProductId, ProductNotFoundError)).pipe(
      operation(
        "delete:products",
        "Delete a product",
        "Removes the product and its modules. A parent can only be removed after its variants."
      )
    ),
    ...module("api"),
    HttpApiEndpoint.post("recordApiCall", "/:uuid/modules/api/calls", {
      params: uuid,
      payload: ApiCall,
      success: Envelope.Written(ProductId),
      error: [ProductNotFoundError, ModuleNotActiveError]
    }).pipe(
      operation(
        "update:products",
        "Record a call of the product API module",
        "Sets `lastCall` of the module that the product has: its own, or the inherited module of its parent."
      )
    ),
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
  )
  .prefix("/v1/products")
  .annotateMerge(
    group("Products", "The products of the portal: plain products, parents and their variants, with their modules.")
  ) {}
