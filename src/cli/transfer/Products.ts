import { Effect, Predicate, Schema, SchemaTransformation, Struct } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import { text } from "../../domain/schema/Fields.ts"
import { OptionValue } from "../../domain/catalog/OptionValue.ts"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { Product, ProductCreate } from "../../domain/catalog/Product.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { isValidated } from "./DryRun.ts"
import * as ModuleCalls from "./ModuleCalls.ts"
import { Modules, same } from "./ModuleForm.ts"
import * as Names from "./Names.ts"
import { enrich } from "./Relations.ts"
import type { ListRequest, Resource } from "./Resource.ts"
import { covers } from "../../domain/files/Rows.ts"

/** Whether the service has a module that this version of the command knows. */
const isKnown = Schema.is(ModuleName)

/** `size=m`; an equals sign in the name of an option is written `\=`. */
const OptionText = Schema.String.check(
  Schema.isPattern(/^(?:[^\\=]|\\[\\=])+=./s, {
    expected: "an option and its value, such as size=m",
    code: "invalidFormat"
  })
).pipe(
  Schema.decodeTo(
    OptionValue,
    SchemaTransformation.transform({
      decode: (written) => {
        const [name] = /^(?:[^\\=]|\\[\\=])+/s.exec(written)!
        return { option: name.replaceAll(/\\([\\=])/g, "$1"), value: written.slice(name.length + 1) }
      },
      encode: ({ option, value }) => `${option.replaceAll(/[\\=]/g, "\\$&")}=${value}`
    })
  )
)

/** Members that have another form in a file. */
const converted = ["parentUuid", "optionValues", "modules"] as const

const options = Schema.Array(OptionText)

const decodeOptions = Schema.decodeUnknownSync(options)

const record = Schema.Struct({
  // The signed URL of a thumbnail expires after some days.
  ...Struct.omit(Product.fields, [...converted, "thumbnailUrl"]),
  parent: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(options),
  modules: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

const create = Schema.Struct({
  ...Struct.omit(ProductCreate.fields, converted),
  parent: Schema.optionalKey(Schema.NullOr(text(100))),
  options: Schema.optionalKey(Schema.NullOr(options)),
  modules: Schema.optionalKey(Modules)
})
type Row = typeof create.Type

/**
 * Products by identifier. A variant names its parent by identifier. Modules are part of their product, except in tabular
 * formats: a module is always replaced as a whole, and a row of a table cannot hold a whole one.
 */
export const products = {
  name: "products",
  record,
  listed: Product,
  create,
  note: `A variant names its parent by identifier, in any order of the rows, and its options as size=m. In json and ndjson a
product has its modules, { "price": { … }, "stock": null }: each is replaced as a whole, null removes it, absent ones do not
change. Where a module holds a uuid, a file names the location or product by identifier, the group by name, the user
by username. Tabular formats have no modules, and change none.`,
  key: "identifier",
  duplicate: "DuplicateIdentifierError",
  late: "ProductNotFoundError",
  has: (existing: Json, { modules, ...wanted }: Json) =>
    covers(existing, wanted) && same(existing["modules"] ?? {}, modules ?? {}),
  planned: {
    choose: (_: Client["Service"], records: ReadonlyArray<Json>) =>
      Effect.succeed(
        records.map(({ modules, ...product }) => (Object.keys(modules ?? {}).length === 0 ? product : undefined))
      ),
    unsupported: {
      path: "modules",
      code: "notPlanned",
      message: "A plan does not write modules; use waypost import"
    }
  },
  toApi: (
    { options: written, parent, ...product }: Json,
    uuidOf: (kind: Names.NamedKind, name: string) => string
  ): Json => ({
    ...product,
    ...(Predicate.isString(parent) && { parentUuid: uuidOf("products", parent) }),
    ...(Array.isArray(written) && { optionValues: decodeOptions(written) })
  }),
  list: (client: Client["Service"], { flat = false } = {}) => {
    const names = Names.make(client)
    const modules = ModuleCalls.make(client, names)

    const extend = Effect.fnUntraced(function* ({ modules: all, optionValues, parentUuid, ...product }: Product) {
      const own = all.flatMap(({ active, inherited, module }) => (active && !inherited ? [module] : [])).filter(isKnown)
      return {
        ...product,
        ...(parentUuid && { parent: yield* names.nameOf("products", parentUuid) }),
        ...(optionValues && { options: optionValues }),
        // A table has no modules; their names say that it lacks them.
        ...(flat
          ? own.length > 0 && { modules: Object.fromEntries(own.map((name) => [name, {}])) }
          : { modules: yield* modules.read(product.uuid, own) })
      }
    })

    const read = ({ uuid }: Product) => client.products.get({ params: { uuid }, query: {} })
    return (query: ListRequest) => enrich(client.products.list({ query }), { extend, read })
  },
  writes: (client: Client["Service"]) => {
    const names = Names.make(client)
    const modules = ModuleCalls.make(client, names)

    const fromRow = Effect.fnUntraced(function* ({ options, parent, ...product }: Omit<Row, "modules">) {
      return {
        ...product,
        ...(options && { optionValues: options }),
        ...(parent && { parentUuid: yield* names.uuidOf("products", parent) })
      }
    })

    return {
      // It is published after its modules are written; invalid modules leave a draft.
      create: ({ modules: wanted, ...row }: Row) =>
        Effect.gen(function* () {
          const product = yield* fromRow(row)
          const publishLater = product.status === "published" && wanted !== undefined
          const { uuid } = yield* client.products
            .create({ payload: { ...product, ...(publishLater ? { status: "draft" } : {}) } })
            .pipe(Effect.tapError((failure) => (isValidated(failure) ? modules.check(wanted) : Effect.void)))
          yield* modules.write(uuid, wanted)
          if (publishLater) yield* client.products.update({ params: { uuid }, payload: { status: "published" } })
        }),
      update: (id: string, { modules: wanted, ...row }: Row) =>
        Effect.gen(function* () {
          const uuid = ProductId.make(id)
          const payload = yield* fromRow(row)
          yield* modules.write(uuid, wanted)
          yield* client.products.update({ params: { uuid }, payload })
        })
    }
  }
} satisfies Resource<typeof record.Type, typeof create.Type>
