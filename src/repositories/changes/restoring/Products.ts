import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Json, objectOf } from "../../../domain/schema/Json.ts"
import { ModuleName } from "../../../domain/catalog/ModuleName.ts"
import { Product, ProductNotFoundError } from "../../../domain/catalog/Product.ts"
import { type AnyModule, moduleOf } from "../../../domain/catalog/ProductModule.ts"
import { pathOfNames } from "../../../domain/write/ReferencePaths.ts"
import { type Lookup, referencesIn, transform } from "../../../domain/write/References.ts"
import { InvalidRequestError } from "../../../domain/write/RequestErrors.ts"
import type { PublicUrl } from "../../../settings/PublicUrl.ts"
import { touched } from "../../../sql/Reads.ts"
import { type ModuleReferences, noVisibility } from "../../catalog/ModuleReferences.ts"
import { computedOf } from "../../catalog/ProductColumns.ts"
import type { ProductModules } from "../../catalog/ProductModules.ts"
import { constraintErrors } from "../../catalog/Products.ts"
import { columnsToRestore, existing, missing, type Target, textOf, writeRow } from "./Restoration.ts"

/** The kinds of records that modules refer to by uuid. */
const referred = ["users", "locations", "groups", "files", "assets"] as const

/** A module as the log has it. */
interface Module {
  readonly name: ModuleName
  readonly settings: Json
  readonly lastCall: unknown
}

const modulesOf = ({ state }: Target): ReadonlyArray<Module> =>
  ModuleName.literals.flatMap((name) => {
    const held = state[`modules.${name}`]
    if (held === undefined || held === null) return []
    const { lastCall, ...settings } = objectOf(held)
    return [{ name, settings, lastCall }]
  })

/** The settings without references to records that are gone, and the path of each of these. */
const withoutLost = (module: AnyModule, settings: Json, lookup: Lookup) => {
  const lost: Array<string> = []
  const kept = transform(module, settings, {
    reference: (kind, id, _, names) => {
      if (kind === undefined || kind === "locales" || lookup(kind, id) !== undefined) return { id }
      lost.push(pathOfNames(names))
      return undefined
    }
  })
  return { kept: objectOf(kept), lost }
}

/** The products and their modules. */
export const product = (
  client: SqlClient.SqlClient,
  publicUrl: PublicUrl["Service"],
  references: ModuleReferences,
  modules: ProductModules["Service"]
) => {
  const columns = columnsToRestore(Product, { computed: computedOf(publicUrl) })

  const writeModule = Effect.fnUntraced(function* (uuid: string, { lastCall, name, settings }: Module) {
    const module = moduleOf(name)
    const named = referencesIn(module, settings)
    for (const kind of referred) yield* existing(client, kind, [...(named.get(kind) ?? [])])
    const lookup = yield* references.lookup(named, noVisibility)
    const variants = yield* client<{ readonly uuid: string }>`
      select uuid from products where parent_uuid = ${uuid} and uuid = any (${[...(named.get("products") ?? [])]}::uuid[])`
    const { kept, lost } = withoutLost(module, settings, (kind, id) =>
      kind === "products" ? (variants.some((variant) => variant.uuid === id) ? {} : undefined) : lookup(kind, id)
    )
    const left = referencesIn(module, kept)
    // What the lookup found is locked, so that it exists.
    yield* Effect.orDie(references.known(left, name, uuid))
    const call = lastCall === undefined ? null : JSON.stringify(lastCall)
    const changed = yield* client`
      insert into product_modules as m (product_uuid, module, settings, last_call)
        values (${uuid}::uuid, ${name}::text, ${JSON.stringify(kept)}::jsonb, ${call}::jsonb)
      on conflict (product_uuid, module) do update set settings = excluded.settings, last_call = excluded.last_call, ${touched("m")}
      where (m.settings, m.last_call) is distinct from (excluded.settings, excluded.last_call) returning module`
    yield* references.note(left, name, uuid)
    const counts = [...Map.groupBy(lost, (path) => path)].map(
      ([path, all]) => [`modules.${name}.${path}`, all.length] as const
    )
    return { changed: changed.length > 0, counts }
  })

  return Effect.fnUntraced(function* (target: Target) {
    const { state, uuid } = target
    const parentUuid = textOf(state, "parent_uuid")
    if (parentUuid && (yield* existing(client, "products", [parentUuid])).size === 0) {
      return yield* ProductNotFoundError.of(parentUuid)
    }
    const identifier = String(state["identifier"])
    const rowChanged = yield* writeRow(client, "products", columns, target).pipe(constraintErrors({ identifier }))
    const wanted = modulesOf(target)
    const removed = yield* client`
      delete from product_modules where product_uuid = ${uuid}
        and not module = any (${wanted.map(({ name }) => name)}::text[]) returning 1`
    const written = yield* Effect.forEach(wanted, (module) => writeModule(uuid, module))
    const problems = state["status"] === "published" ? yield* modules.problems(uuid) : []
    if (problems.length > 0) return yield* InvalidRequestError.of(problems)
    return {
      changed: rowChanged || removed.length > 0 || written.some(({ changed }) => changed),
      missing: missing(...written.flatMap(({ counts }) => counts))
    }
  })
}
