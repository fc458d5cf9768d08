import { Effect, Option, Schema } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { complete, type Problem } from "../../domain/write/Completion.ts"
import type { ReferenceKind } from "../../domain/write/Markers.ts"
import { type References, referencesIn, resolve } from "../../domain/write/References.ts"
import { ProductNotFoundError, type ProductType } from "../../domain/catalog/Product.ts"
import {
  type AnyModule,
  inherits,
  InvalidTemplateModuleConfigurationError,
  type ModuleAnswer,
  ModuleIncompatibleWithProductTypeError,
  ModuleNotActiveError,
  moduleOf,
  owns,
  supports
} from "../../domain/catalog/ProductModule.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { encodedOf } from "../../domain/schema/Encoded.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import * as ModuleComputed from "./ModuleComputed.ts"
import { asIssues } from "./ModuleProblems.ts"
import { type ModuleReferences, noVisibility, type Visibility } from "./ModuleReferences.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import { sql } from "../../sql/Fragment.ts"
import type { Sql } from "../../sql/Sql.ts"

export type ModuleReads = ReturnType<typeof make>

/** Reads of modules: the answer to a request, and what is wrong with the modules of a product. */
export const make = ({ pooled }: Sql["Service"], references: ModuleReferences, publicUrl: PublicUrl["Service"]) => {
  const computed = ModuleComputed.make(pooled, publicUrl)

  const find = Effect.fnUntraced(function* (name: ModuleName, uuid: string) {
    // Settings may have megabytes, and others wait behind a pipelined statement.
    const [row] = yield* Effect.orDie(pooled<Found>`
      select p.type, m.product_uuid as owner, m.settings, ${timestampJson(sql`m.edited_at`)} as "editedAt"
      from products p left join lateral (
        select * from product_modules
        where module = ${name} and (product_uuid = p.uuid or (${inherits("variant", name)}::boolean and product_uuid = p.parent_uuid))
        order by product_uuid = p.uuid desc limit 1
      ) m on true
      where p.uuid = ${uuid}`)
    if (row === undefined) return yield* ProductNotFoundError.of(uuid)
    if (!supports(row.type, name)) return yield* ModuleIncompatibleWithProductTypeError.of(name, row.type)
    const { owner, settings } = row
    if (owner === null) return yield* ModuleNotActiveError.of(name, uuid)
    return { ...row, owner, settings: complete(moduleOf(name), settings, keptAsIs).settings }
  })

  /** The answer as a JSON text, its members in the order of the schema. */
  const get = Effect.fnUntraced(function* <Name extends ModuleName>(name: Name, uuid: string, visibility: Visibility) {
    const module = moduleOf(name)
    const { editedAt, owner, settings } = yield* find(name, uuid)
    const lookup = yield* references.lookup(referencesIn(module, settings), visibility)
    const problems = name === "template" ? module.rules(settings, lookup) : []
    if (problems.length > 0) return yield* InvalidTemplateModuleConfigurationError.of(problems)
    const resolved = resolve(module, settings, lookup)
    const [members = {}] = yield* Effect.orDie(computed([{ module: name, owner, settings: resolved }]))
    return encodedOf<ModuleAnswer<Name>>(
      answerOf(name, uuid, { owner, editedAt, settings: { ...resolved, ...members } })
    )
  })

  /** Ends the request with 412 unless the module is the one that the client read; one that cannot be read is not. */
  const check = Effect.fnUntraced(function* (
    name: ModuleName,
    uuid: string,
    visibility: Visibility,
    precondition: Precondition
  ) {
    if (precondition === undefined) return
    const current = yield* Effect.option(get(name, uuid, visibility))
    yield* checkPrecondition(precondition, Option.getOrUndefined(current), "module")
  })

  /**
   * Every active module of products as `get` answers it, but without looking for problems, by uuid and name; undefined if their
   * settings and variants have more than `maxBytes`.
   */
  const getAll = Effect.fnUntraced(function* (uuids: ReadonlyArray<string>, visibility: Visibility, maxBytes: number) {
    const [row] = yield* Effect.orDie(pooled<FoundModules>`${modulesOf(uuids, maxBytes)}`)
    if (row!.read === null) return undefined
    const { bytes, modules } = row!.read
    const found = modules
      .filter(({ module, owner, type, uuid }) => (owner === uuid ? owns(type, module) : inherits(type, module)))
      .map((one) => ({ ...one, settings: complete(moduleOf(one.module), one.settings, keptAsIs).settings }))
    const lookup = yield* references.lookup(
      merged(found.map(({ module, settings }) => referencesIn(moduleOf(module), settings))),
      visibility
    )
    const resolved = found.map((one) => ({ ...one, settings: resolve(moduleOf(one.module), one.settings, lookup) }))
    const members = yield* Effect.orDie(computed(resolved))
    const answers = resolved.map(
      ({ module, settings, uuid, ...one }, index) =>
        [`${uuid} ${module}`, answerOf(module, uuid, { ...one, settings: { ...settings, ...members[index] } })] as const
    )
    return { bytes, modules: new Map<string, Json>(answers) }
  })

  /** The settings of the module that the product has, with their defaults. */
  const settings = <Name extends ModuleName>(name: Name, uuid: string) =>
    Effect.map(find(name, uuid), (found) => found.settings as ModuleComputed.Settings<Name>)

  const problemsOf = Effect.fnUntraced(function* (name: ModuleName, stored: Json) {
    const module = moduleOf(name)
    const { problems, settings } = complete(module, stored, keptAsIs)
    const lookup = yield* references.lookup(referencesIn(module, settings), noVisibility)
    const all = [
      ...problems,
      ...(yield* misfits(module, settings)),
      ...module.rules(resolve(module, settings, lookup), lookup)
    ]
    return asIssues(all, `modules.${name}`)
  })

  /** Everything that is wrong with the active modules of a product, those from its parent included. */
  const problems = Effect.fnUntraced(function* (uuid: string) {
    const rows = yield* Effect.orDie(pooled<Effective>`
      select distinct on (m.module) m.module, m.settings, m.product_uuid = p.uuid as "isOwn"
      from products p join product_modules m on m.product_uuid in (p.uuid, p.parent_uuid)
      where p.uuid = ${uuid} order by m.module, m.product_uuid = p.uuid desc`)
    const effective = rows.filter(({ isOwn, module }) => isOwn || inherits("variant", module))
    return (yield* Effect.forEach(effective, ({ module, settings }) => problemsOf(module, settings))).flat()
  })

  return { check, get, getAll, problems, settings }
}

/** The bytes of a variant in an answer, about. */
const variantBytes = 400

interface FoundModules {
  /** Null when they have too many bytes. */
  readonly read: {
    readonly bytes: number
    readonly modules: ReadonlyArray<
      Effective & Omit<Found, "owner"> & { readonly uuid: string; readonly owner: string }
    >
  } | null
}

/** The modules of a parent that its variants do not have. */
const notInherited = ModuleName.literals.filter((module) => !inherits("variant", module))

const modulesOf = (uuids: ReadonlyArray<string>, maxBytes: number) => sql`
  with found as materialized (
    select distinct on (p.uuid, m.module) p.uuid, p.type, m.module, m.product_uuid as owner, m.settings,
      ${timestampJson(sql`m.edited_at`)} as "editedAt"
    from products p join product_modules m on m.product_uuid in (p.uuid, p.parent_uuid)
    where p.uuid = any (${uuids}::uuid[]) and (m.product_uuid = p.uuid or m.module <> all (${notInherited}::text[]))
    order by p.uuid, m.module, m.product_uuid = p.uuid desc
  ), size as materialized (
    select (select coalesce(sum(octet_length(settings::text)), 0) from found) + ${sql.literal(String(variantBytes))} * (
      select count(*) from found f join products v on v.parent_uuid = f.owner where f.module = 'variants'
    ) as bytes
  ) select case when bytes <= ${maxBytes}::bigint then json_build_object('bytes', bytes,
      'modules', (select coalesce(json_agg(found), '[]') from found)) end as read
    from size`

/** An answer, its members in the order of the schema. */
const answerOf = (
  name: ModuleName,
  uuid: string,
  { editedAt, owner, settings }: Omit<Found, "type" | "owner"> & { readonly owner: string }
): Json => {
  const answer: Json = {
    ...settings,
    productUuid: uuid,
    module: name,
    active: true,
    editedAt,
    ...(owner === uuid ? {} : { inheritedFrom: owner })
  }
  return Object.fromEntries(Object.keys(moduleOf(name).answer.fields).map((member) => [member, answer[member]]))
}

/** What several modules name. */
const merged = (all: ReadonlyArray<References>): References => {
  const named = new Map<ReferenceKind, Set<string>>()
  for (const [kind, uuids] of all.flatMap((references) => [...references])) {
    const known = named.get(kind) ?? new Set()
    for (const uuid of uuids) known.add(uuid)
    named.set(kind, known)
  }
  return named
}

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

/** Nothing is made up for what is stored without it: it would be another one at every read. */
const keptAsIs = { uuid: () => "00000000-0000-0000-0000-000000000000", now: "1970-01-01T00:00:00.000Z", locale: "en" }

/** Settings are stored for long, and what fitted once need not fit what is asked for now. */
const misfits = (module: AnyModule, settings: Json): Effect.Effect<ReadonlyArray<Problem>> =>
  Schema.decodeUnknownEffect(module.update)(settings).pipe(
    Effect.as([]),
    Effect.catchTag("SchemaError", ({ message }) => Effect.succeed([{ path: "", code: "invalid", message }]))
  )
