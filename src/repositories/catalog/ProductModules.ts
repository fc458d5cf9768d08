import { Clock, Context, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Json } from "../../domain/schema/Json.ts"
import type { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { FileNotFoundError } from "../../domain/assets/File.ts"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import type { ApiCall } from "../../domain/catalog/modules/Api.ts"
import { complete } from "../../domain/write/Completion.ts"
import { referencesIn } from "../../domain/write/References.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { ProductNotFoundError, type ProductType } from "../../domain/catalog/Product.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import {
  type AnyModule,
  type InvalidTemplateModuleConfigurationError,
  type ModuleAnswer,
  ModuleIncompatibleWithProductTypeError,
  moduleOf,
  ModuleNotActiveError,
  type Modules,
  owns
} from "../../domain/catalog/ProductModule.ts"
import type { InvalidRequestError, Issue } from "../../domain/write/RequestErrors.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import * as Written from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { Memberships } from "../people/Memberships.ts"
import * as ApiCalls from "./ApiCalls.ts"
import type { Settings } from "./ModuleComputed.ts"
import * as ModuleProblems from "./ModuleProblems.ts"
import * as ModuleReads from "./ModuleReads.ts"
import * as ModuleReferences from "./ModuleReferences.ts"
import { touched } from "../../sql/Reads.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"

type Unavailable = ProductNotFoundError | ModuleNotActiveError | ModuleIncompatibleWithProductTypeError
type Unknown = UserNotFoundError | LocationNotFoundError | GroupNotFoundError | FileNotFoundError | AssetNotFoundError
type Rejected = Unknown | InvalidLocaleError | InvalidRequestError | InvalidTemplateModuleConfigurationError

/** The modules of products, in PostgreSQL. Answers show the names that `visibility` allows. */
export class ProductModules extends Context.Service<
  ProductModules,
  {
    /** The product's own module, or its parent's where that counts. */
    get<Name extends ModuleName>(
      name: Name,
      uuid: ProductId,
      visibility: ModuleReferences.Visibility
    ): Effect.Effect<Encoded<ModuleAnswer<Name>>, Unavailable | InvalidTemplateModuleConfigurationError>
    /** The settings of the module that `get` answers. */
    settings<Name extends ModuleName>(name: Name, uuid: ProductId): Effect.Effect<Settings<Name>, Unavailable>
    /** Every active module of products as `get` answers it, by uuid and name; undefined if they have more than so many bytes. */
    readonly getAll: ModuleReads.ModuleReads["getAll"]
    /** Ends the request with 412 unless the module, as `get` answers it, meets the precondition. */
    readonly check: ModuleReads.ModuleReads["check"]
    /** Makes the module active, with these settings as a whole. */
    replace<Name extends ModuleName>(
      name: Name,
      uuid: ProductId,
      update: Modules[Name]["update"]["Type"],
      visibility: ModuleReferences.Visibility,
      precondition: Precondition
    ): Effect.Effect<
      Written.Written<"products", ProductId>,
      ProductNotFoundError | ModuleIncompatibleWithProductTypeError | Rejected
    >
    /** Takes the product's own module away. */
    remove(
      name: ModuleName,
      uuid: ProductId,
      visibility: ModuleReferences.Visibility,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"products", ProductId>, Unavailable>
    /** Sets the last call of the API module that the product has, which may be its parent's. */
    recordCall(
      uuid: ProductId,
      call: ApiCall,
      precondition: Precondition
    ): Effect.Effect<Written.Written<"products", ProductId>, ProductNotFoundError | ModuleNotActiveError>
    /** Everything that keeps a product from being published, in all its active modules. */
    problems(uuid: string): Effect.Effect<ReadonlyArray<Issue>>
  }
>()("waypost/repositories/catalog/ProductModules") {
  static readonly layer = Layer.effect(
    ProductModules,
    Effect.gen(function* () {
      const locales = yield* Locales
      const sql = yield* Sql
      const { pooled } = sql
      const publicUrl = yield* PublicUrl
      const references = ModuleReferences.make(pooled, yield* Memberships, publicUrl)
      const { check, get, getAll, problems, settings } = ModuleReads.make(sql, references, publicUrl)

      /** The product, locked and read for a write of its own module. Writers of one product come one after the other. */
      const owned = Effect.fnUntraced(function* (
        name: ModuleName,
        uuid: ProductId,
        visibility: ModuleReferences.Visibility,
        precondition: Precondition
      ) {
        const [row] = yield* pooled<{ readonly type: ProductType }>`
          select type from products where uuid = ${uuid} for no key update`
        if (row === undefined) return yield* ProductNotFoundError.of(uuid)
        yield* check(name, uuid, visibility, precondition)
        if (!owns(row.type, name)) return yield* ModuleIncompatibleWithProductTypeError.ofWrite(name, row.type)
      })

      /** The default variant must be one of the product's. */
      const notVariant = Effect.fnUntraced(function* (uuid: ProductId, settings: Json) {
        const variant = settings["defaultVariantUuid"]
        if (variant === undefined) return []
        const found = yield* pooled`select 1 from products where uuid = ${variant} and parent_uuid = ${uuid}`
        const message = "It must be a variant of this product"
        return found.length > 0 ? [] : [{ path: "defaultVariantUuid", code: "notVariant", message }]
      })

      const replace = Effect.fnUntraced(
        function* (
          name: ModuleName,
          uuid: ProductId,
          update: unknown,
          visibility: ModuleReferences.Visibility,
          precondition: Precondition
        ) {
          const module = moduleOf(name)
          const sent = yield* Effect.orDie(encoderOf(module)(update))
          yield* owned(name, uuid, visibility, precondition)
          const now = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
          const fill = { uuid: SecureRandom.uuidV7Unsafe, now, locale: locales.defaultLocale }
          const { problems, settings } = complete(module, sent, fill)
          const named = referencesIn(module, settings)
          yield* references.known(named, name, uuid)
          yield* Effect.forEach(named.get("locales") ?? [], (locale) => locales.check(locale), { discard: true })
          const lookup = yield* references.lookup(named, ModuleReferences.noVisibility)
          yield* ModuleProblems.failWith(module, [
            ...problems,
            ...module.rules(settings, lookup),
            ...(name === "variants" ? yield* notVariant(uuid, settings) : [])
          ])
          // Settings that do not change are not written.
          const changed = yield* pooled`
          insert into product_modules (product_uuid, module, settings)
            values (${uuid}::uuid, ${name}::text, ${JSON.stringify(settings)}::jsonb)
          on conflict (product_uuid, module) do update set settings = excluded.settings, ${touched("product_modules")}
          where product_modules.settings is distinct from excluded.settings returning module`
          yield* references.note(named, name, uuid)
          return Written.updated("products", uuid, changed.length > 0)
        },
        (write) => transaction(pooled, write)
      )

      const remove = Effect.fnUntraced(
        function* (
          name: ModuleName,
          uuid: ProductId,
          visibility: ModuleReferences.Visibility,
          precondition: Precondition
        ) {
          yield* owned(name, uuid, visibility, precondition)
          const gone = yield* pooled`
          delete from product_modules where product_uuid = ${uuid} and module = ${name} returning module`
          if (gone.length > 0) return Written.updated("products", uuid, true)
          // One that is still there is the parent's.
          yield* settings(name, uuid)
          return yield* ModuleNotActiveError.ofInherited(name, uuid)
        },
        (write) => transaction(pooled, write)
      )

      return traced(ProductModules, {
        check,
        get,
        getAll,
        replace,
        remove,
        recordCall: ApiCalls.make(pooled, check),
        problems,
        settings
      })
    })
  )
}

const encoders = new Map<ModuleName, (update: unknown) => Effect.Effect<unknown, Schema.SchemaError>>()
const encoderOf = (module: AnyModule) => {
  const encoder = encoders.get(module.name) ?? Schema.encodeUnknownEffect(module.update)
  encoders.set(module.name, encoder)
  return encoder
}
