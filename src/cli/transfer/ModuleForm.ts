import { Effect, Predicate, Schema, SchemaGetter } from "effect"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { complete } from "../../domain/write/Completion.ts"
import { type AnyModule, moduleOf } from "../../domain/catalog/ProductModule.ts"
import { abbreviate, rename } from "./ModuleNames.ts"
import type { Json } from "./Row.ts"

/**
 * Modules as they stand in a file: the settings that a client sends, whole, with names in the place of uuids. `null`
 * takes the module away.
 */
export type Modules = { readonly [Name in ModuleName]?: unknown }

/** References that stand for names while a schema, which wants uuids, looks at the settings. */
const standIns = () => {
  const uuids = new Map<string, string>()
  const names = new Map<string, string>()
  return {
    standFor: (name: string) => {
      const uuid = uuids.get(name) ?? `00000000-0000-4000-8000-${String(uuids.size).padStart(12, "0")}`
      uuids.set(name, uuid)
      names.set(uuid, name)
      return uuid
    },
    nameOf: (uuid: string) => names.get(uuid)!
  }
}

/** The settings of one module as the schema of its PUT would have them, or what is wrong with them. */
const settings = (name: ModuleName) => {
  const module = moduleOf(name)
  const decode = Schema.decodeUnknownEffect(module.update, { onExcessProperty: "error", errors: "all" })
  const encode = Schema.encodeUnknownEffect(module.update)
  const normalise = Effect.fnUntraced(
    function* (sent: unknown) {
      if (sent === null) return null
      const { nameOf, standFor } = standIns()
      const decoded = yield* decode(rename(module, sent, (_, reference) => standFor(reference)))
      return rename(module, yield* encode(decoded), (_, uuid) => nameOf(uuid))
    },
    Effect.mapError(({ issue }) => issue)
  )
  return Schema.Unknown.pipe(
    Schema.decodeTo(Schema.Unknown, {
      decode: SchemaGetter.transformEffect(normalise),
      encode: SchemaGetter.passthrough()
    })
  )
}

/** Modules as an import takes them; those that are absent are left alone. */
export const Modules: Schema.Codec<Modules, unknown> = Schema.Struct(
  Object.fromEntries(ModuleName.literals.map((name) => [name, Schema.optionalKey(settings(name))]))
)

/** What the server makes when a file does not say it, and what is equal to anything. */
const made = "\u0000"
const fill = { uuid: () => made, now: made, language: made }

/** What of a module's answer can be written, with names in the place of uuids already. */
export const writable = (module: AnyModule, answer: unknown): unknown =>
  abbreviate(module, complete(module, answer as Json, fill).settings)

const equal = (existing: unknown, wanted: unknown): boolean => {
  if (wanted === made) return existing !== undefined
  if (!Predicate.isObjectOrArray(wanted)) return existing === wanted
  if (!Predicate.isObjectOrArray(existing) || Array.isArray(existing) !== Array.isArray(wanted)) return false
  const members = Object.keys(wanted)
  return (
    members.length === Object.keys(existing).length &&
    members.every((member) => equal((existing as Json)[member], (wanted as Json)[member]))
  )
}

/** Whether sending the modules would change nothing. A module is replaced whole, so what it leaves out counts too. */
export const same = (existing: Modules, wanted: Modules): boolean =>
  ModuleName.literals.every((name) => {
    if (wanted[name] === undefined) return true
    if (wanted[name] === null || existing[name] === undefined) return (existing[name] ?? null) === wanted[name]
    const module = moduleOf(name)
    const [before, after] = [existing[name], wanted[name]].map(
      (one) => complete(module, rename(module, one, (_, reference) => reference) as Json, fill).settings
    )
    return equal(before, after)
  })
