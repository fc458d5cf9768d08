import { Clock, Context, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Encoded } from "../domain/Encoded.ts"
import type { FileNotFoundError } from "../domain/File.ts"
import type { GroupNotFoundError } from "../domain/Group.ts"
import { type InvalidLocaleError, Locales } from "../domain/Locale.ts"
import type { LocationNotFoundError } from "../domain/Location.ts"
import type { ModuleName } from "../domain/ModuleName.ts"
import { complete, localesIn, type Problem } from "../domain/ModuleShape.ts"
import { IfMatch } from "../domain/Precondition.ts"
import { ProductNotFoundError, type ProductType } from "../domain/Product.ts"
import type { ProductId } from "../domain/ProductId.ts"
import {
  type AnyModule,
  inherits,
  InvalidTemplateModuleConfigurationError,
  type ModuleAnswer,
  ModuleIncompatibleWithProductTypeError,
  moduleOf,
  ModuleNotActiveError,
  type Modules,
  owns,
  supports
} from "../domain/ProductModule.ts"
import { InvalidRequestError, type Issue, PreconditionFailedError } from "../domain/RequestErrors.ts"
import type { UserNotFoundError } from "../domain/User.ts"
import { entityTag } from "./EntityTag.ts"
import { Memberships } from "./Memberships.ts"
import * as ModuleComputed from "./ModuleComputed.ts"
import * as ModuleReferences from "./ModuleReferences.ts"
import { timestampJson } from "./RecordSql.ts"
import { Sql } from "./Sql.ts"
import { transaction } from "./SqlErrors.ts"

type Unavailable = ProductNotFoundError | ModuleNotActiveError | ModuleIncompatibleWithProductTypeError
type Unknown = UserNotFoundError | LocationNotFoundError | GroupNotFoundError | FileNotFoundError
type Refused = Unknown | InvalidLocaleError | InvalidRequestError | InvalidTemplateModuleConfigurationError

/** The modules of products, in PostgreSQL. Names are told as far as `sees` allows. */
export class ProductModules extends Context.Service<
  ProductModules,
  {
    /** The product's own module, or its parent's where that counts. */
    get<Name extends ModuleName>(
      name: Name,
      uuid: ProductId,
      sees: ModuleReferences.Sees
    ): Effect.Effect<Encoded<ModuleAnswer<Name>>, Unavailable | InvalidTemplateModuleConfigurationError>
    /** Makes the module active, with these settings as a whole. */
    replace<Name extends ModuleName>(
      name: Name,
      uuid: ProductId,
      update: Modules[Name]["update"]["Type"],
      sees: ModuleReferences.Sees
    ): Effect.Effect<ProductId, ProductNotFoundError | ModuleIncompatibleWithProductTypeError | Refused>
    /** Takes the product's own module away. */
    remove(name: ModuleName, uuid: ProductId, sees: ModuleReferences.Sees): Effect.Effect<ProductId, Unavailable>
    /** Everything that keeps a product from being published, in all its active modules. */
    problems(uuid: string): Effect.Effect<ReadonlyArray<Issue>>
  }
>()("waypost/repositories/ProductModules") {
  static readonly layer = Layer.effect(
    ProductModules,
    Effect.gen(function* () {
      const locales = yield* Locales
      const { bounded, ordinary } = yield* Sql
      const references = ModuleReferences.make(ordinary, yield* Memberships)
      const computed = ModuleComputed.make(ordinary)

      const find = Effect.fnUntraced(function* (name: ModuleName, uuid: string) {
        const [row] = yield* Effect.orDie(bounded.unsafe<Found>(selectModule, [uuid, name, inherits("variant", name)]))
        if (row === undefined) return yield* ProductNotFoundError.of(uuid)
        if (!supports(row.type, name)) return yield* ModuleIncompatibleWithProductTypeError.of(name, row.type)
        const { owner, settings } = row
        if (owner === null) return yield* ModuleNotActiveError.of(name, uuid)
        return { ...row, owner, settings: complete(moduleOf(name), settings, keptAsIs).settings }
      })

      /** The answer as a JSON text, its members in the order of the schema. */
      const told = Effect.fnUntraced(function* (module: AnyModule, uuid: string, sees: ModuleReferences.Sees) {
        const { editedAt, owner, settings } = yield* find(module.name, uuid)
        const look = yield* references.lookup(module, settings, sees)
        if (module.name === "template") yield* refuse(module, module.rules(settings, look))
        const resolved = module.resolve(settings, look) as Json
        const answer: Json = {
          ...resolved,
          ...(yield* Effect.orDie(computed(module.name, resolved, owner))),
          productUuid: uuid,
          module: module.name,
          active: true,
          editedAt,
          ...(owner === uuid ? {} : { inheritedFrom: owner })
        }
        const members = Object.keys(module.answer.fields).map((member) => [member, answer[member]])
        return JSON.stringify(Object.fromEntries(members))
      })

      const get = (name: ModuleName, uuid: ProductId, sees: ModuleReferences.Sees) => told(moduleOf(name), uuid, sees)

      /** With `If-Match`, the module must be the one the client read; one that cannot be read is not. */
      const unchanged = Effect.fnUntraced(function* (name: ModuleName, uuid: ProductId, sees: ModuleReferences.Sees) {
        const tags = yield* IfMatch
        if (tags === undefined) return
        const current = yield* Effect.option(get(name, uuid, sees))
        if (current._tag === "None" || !tags.includes(entityTag(current.value))) return yield* Effect.die(changedSince)
      })

      /** Writers of one product's modules come one after the other; a type never changes. */
      const locked = Effect.fnUntraced(function* (uuid: ProductId) {
        const [row] = yield* ordinary.unsafe<{ readonly type: ProductType }>(
          "select type from products where uuid = $1 for no key update",
          [uuid]
        )
        return row === undefined ? yield* ProductNotFoundError.of(uuid) : row.type
      })

      const replaceOnce = Effect.fnUntraced(function* (
        name: ModuleName,
        uuid: ProductId,
        update: unknown,
        sees: ModuleReferences.Sees
      ) {
        const module = moduleOf(name)
        const sent = (yield* Effect.orDie(encoderOf(module)(update))) as Json
        const type = yield* locked(uuid)
        yield* unchanged(name, uuid, sees)
        if (!owns(type, name)) return yield* ModuleIncompatibleWithProductTypeError.ofWrite(name, type)
        const now = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
        const fill = { uuid: SecureRandom.uuidV7Unsafe, now, language: locales.defaultLanguage }
        const { problems, settings } = complete(module, sent, fill)
        yield* references.known(module, settings)
        yield* Effect.forEach(new Set(localesIn(settings)), (locale) => locales.check(locale), { discard: true })
        const look = yield* references.lookup(module, settings, nothing)
        yield* refuse(module, [
          ...problems,
          ...module.rules(settings, look),
          ...(yield* notVariant(name, uuid, settings))
        ])
        yield* ordinary.unsafe(upsert, [uuid, name, JSON.stringify(settings)])
        return uuid
      })

      /** The default variant must be one of the product's. */
      const notVariant = Effect.fnUntraced(function* (name: ModuleName, uuid: ProductId, settings: Json) {
        const variant = name === "variants" ? settings["defaultVariantUuid"] : undefined
        if (variant === undefined) return []
        const rows = yield* ordinary.unsafe("select 1 from products where uuid = $1 and parent_uuid = $2", [
          variant,
          uuid
        ])
        return rows.length > 0
          ? []
          : [{ path: "defaultVariantUuid", code: "notVariant", message: "It must be a variant of this product" }]
      })

      const replace = (name: ModuleName, uuid: ProductId, update: unknown, sees: ModuleReferences.Sees) =>
        transaction(ordinary, replaceOnce(name, uuid, update, sees))

      const removeOnce = Effect.fnUntraced(function* (name: ModuleName, uuid: ProductId, sees: ModuleReferences.Sees) {
        const type = yield* locked(uuid)
        yield* unchanged(name, uuid, sees)
        if (!owns(type, name)) return yield* ModuleIncompatibleWithProductTypeError.ofWrite(name, type)
        const gone = yield* ordinary.unsafe(
          "delete from product_modules where product_uuid = $1 and module = $2 returning module",
          [uuid, name]
        )
        return gone.length > 0 ? uuid : yield* ModuleNotActiveError.of(name, uuid)
      })

      const remove = (name: ModuleName, uuid: ProductId, sees: ModuleReferences.Sees) =>
        transaction(ordinary, removeOnce(name, uuid, sees))

      const problemsOf = Effect.fnUntraced(function* (name: ModuleName, stored: Json) {
        const module = moduleOf(name)
        const { problems, settings } = complete(module, stored, keptAsIs)
        const look = yield* references.lookup(module, settings, nothing)
        const resolved = module.resolve(settings, look)
        return [...problems, ...(yield* misfits(module, settings)), ...module.rules(resolved, look)].map(
          ({ path, ...problem }) => ({
            in: "body" as const,
            path: path === "" ? `modules.${name}` : `modules.${name}.${path}`,
            ...problem
          })
        )
      })

      const problems = Effect.fnUntraced(function* (uuid: string) {
        const rows = yield* Effect.orDie(ordinary.unsafe<Effective>(selectEffective, [uuid]))
        const effective = rows.filter(({ isOwn, module }) => isOwn || inherits("variant", module))
        return (yield* Effect.forEach(effective, ({ module, settings }) => problemsOf(module, settings))).flat()
      })

      return ProductModules.of({ get, replace, remove, problems } as unknown as ProductModules["Service"])
    })
  )
}

type Json = Readonly<Record<string, unknown>>

interface Found {
  readonly type: ProductType
  /** The product whose module it is, if it is active. */
  readonly owner: string | null
  readonly settings: Json
  readonly editedAt: string
}

interface Effective {
  readonly module: ModuleName
  readonly settings: Json
  readonly isOwn: boolean
}

const selectModule = `
  select p.type, m.product_uuid as owner, m.settings, ${timestampJson("m.edited_at")} as "editedAt"
  from products p left join lateral (
    select * from product_modules
    where module = $2 and (product_uuid = p.uuid or ($3::boolean and product_uuid = p.parent_uuid))
    order by product_uuid = p.uuid desc limit 1
  ) m on true
  where p.uuid = $1`

const selectEffective = `
  select distinct on (m.module) m.module, m.settings, m.product_uuid = p.uuid as "isOwn"
  from products p join product_modules m on m.product_uuid in (p.uuid, p.parent_uuid)
  where p.uuid = $1 order by m.module, m.product_uuid = p.uuid desc`

/** Settings that do not change are not written. */
const upsert = `
  insert into product_modules (product_uuid, module, settings) values ($1::uuid, $2::text, $3::jsonb)
  on conflict (product_uuid, module) do update set settings = excluded.settings,
    edited_at = greatest(now(), product_modules.edited_at + interval '1 millisecond')
  where product_modules.settings is distinct from excluded.settings`

/** Nothing is made up for what is stored without it: it would be another one at every read. */
const keptAsIs = { uuid: () => "00000000-0000-0000-0000-000000000000", now: "1970-01-01T00:00:00.000Z", language: "en" }

const nothing: ModuleReferences.Sees = { users: false, locations: false, groups: false }

const encoders = new Map<ModuleName, (update: unknown) => Effect.Effect<unknown, Schema.SchemaError>>()
const encoderOf = (module: AnyModule) => {
  const encoder = encoders.get(module.name) ?? Schema.encodeUnknownEffect(module.update)
  encoders.set(module.name, encoder)
  return encoder
}

/** Settings are stored for long, and what fitted once need not fit what is asked for now. */
const misfits = (module: AnyModule, settings: Json): Effect.Effect<ReadonlyArray<Problem>> =>
  Schema.decodeUnknownEffect(module.update)(settings).pipe(
    Effect.as([]),
    Effect.catchTag("SchemaError", ({ message }) => Effect.succeed([{ path: "", code: "invalid", message }]))
  )

const refuse = (module: AnyModule, problems: ReadonlyArray<Problem>) => {
  if (problems.length === 0) return Effect.void
  return module.name === "template"
    ? Effect.fail(InvalidTemplateModuleConfigurationError.of(problems))
    : Effect.fail(InvalidRequestError.of(problems.map((problem) => ({ in: "body" as const, ...problem }))))
}

const changedSince = new PreconditionFailedError({
  message: "The module has changed since it was read; read it again and repeat the request with the new ETag"
})
