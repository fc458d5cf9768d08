import { Effect, Predicate, Schema, SchemaGetter } from "effect"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { complete } from "../../domain/write/Completion.ts"
import { type AnyModule, moduleOf } from "../../domain/catalog/ProductModule.ts"
import { abbreviate, rename } from "./ModuleNames.ts"

/**
 * Modules in the form of a file: the complete settings that a client sends, with names instead of uuids. `null` removes
 * the module.
 */
export type Modules = { readonly [Name in ModuleName]?: unknown }

/** Placeholder uuids for names, because the schema that validates the settings requires uuids. */
const placeholders = () => {
  const uuids = new Map<string, string>()
  const names = new Map<string, string>()
  return {
    uuidFor: (name: string) => {
      const uuid = uuids.get(name) ?? `00000000-0000-4000-8000-${String(uuids.size).padStart(12, "0")}`
      uuids.set(name, uuid)
      names.set(uuid, name)
      return uuid
    },
    nameOf: (uuid: string) => names.get(uuid)!
  }
}

/** Validates the settings of one module with the schema of its PUT. */
const settings = (name: ModuleName) => {
  const module = moduleOf(name)
  const decode = Schema.decodeUnknownEffect(module.update, { onExcessProperty: "error", errors: "all" })
  const encode = Schema.encodeUnknownEffect(module.update)
  const normalise = Effect.fnUntraced(
    function* (sent: unknown) {
      if (sent === null) return null
      const { nameOf, uuidFor } = placeholders()
      const decoded = yield* decode(rename(module, sent, (_, reference) => uuidFor(reference)))
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

/** Modules in an import; absent ones do not change. */
export const Modules: Schema.Codec<Modules, unknown> = Schema.Struct(
  Object.fromEntries(ModuleName.literals.map((name) => [name, Schema.optionalKey(settings(name))]))
)

/** Stands for a value that the server generates when a file omits it; equal to every value. */
const generated = "\u0000"
const fill = { uuid: () => generated, now: generated, locale: generated }

/** The writable members of a module's response, which has names instead of uuids. */
export const writable = (module: AnyModule, answer: unknown): unknown =>
  abbreviate(module, complete(module, answer, fill).settings)

const equal = (existing: unknown, wanted: unknown): boolean => {
  if (wanted === generated) return existing !== undefined
  if (!Predicate.isObjectOrArray(wanted)) return existing === wanted
  if (!Predicate.isObjectOrArray(existing) || Array.isArray(existing) !== Array.isArray(wanted)) return false
  const members = Object.keys(wanted)
  return (
    members.length === Object.keys(existing).length &&
    members.every((member) => equal(Reflect.get(existing, member), Reflect.get(wanted, member)))
  )
}

/** Whether sending the modules would change nothing. A module is replaced as a whole, so omitted members count too. */
export const same = (existing: Modules, wanted: Modules): boolean =>
  ModuleName.literals.every((name) => {
    if (wanted[name] === undefined) return true
    if (wanted[name] === null || existing[name] === undefined) return (existing[name] ?? null) === wanted[name]
    const module = moduleOf(name)
    const [before, after] = [existing[name], wanted[name]].map(
      (one) =>
        complete(
          module,
          rename(module, one, (_, reference) => reference),
          fill
        ).settings
    )
    return equal(before, after)
  })
