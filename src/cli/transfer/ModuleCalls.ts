import { Effect, Schema } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import { ModuleName, pascal } from "../../domain/catalog/ModuleName.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import { moduleOf } from "../../domain/catalog/ProductModule.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Failure } from "../Failures.ts"
import { allowed } from "./DryRun.ts"
import { type Modules, writable } from "./ModuleForm.ts"
import { renameEffect } from "./ModuleNames.ts"
import type { NamedKind, Names } from "./Names.ts"

type Call = (request: {
  readonly params: { readonly uuid: ProductId }
  readonly payload?: unknown
}) => Effect.Effect<unknown, Failure>

/** The name of a record in an answer. That of a user is the person's, which does not identify the user. */
const shownName = (kind: NamedKind, { identifier, name }: Json) =>
  kind === "locations" ? identifier : kind === "groups" ? name : undefined

const encode = (name: ModuleName) => Schema.encodeUnknownEffect(moduleOf(name).answer)

/** Prefixes the paths of the issues with the place of the module in the product's row. */
const within = (name: ModuleName) => (failure: Failure) =>
  failure instanceof InvalidRequestError
    ? InvalidRequestError.of(failure.issues.map((issue) => ({ ...issue, path: `modules.${name}.${issue.path}` })))
    : failure

/** Reads and writes modules in the form of a file, one at a time: concurrent writes of one product would block each other. */
export const make = (client: Client["Service"], names: Names) => {
  const call = (verb: "get" | "update" | "delete", name: ModuleName): Call =>
    (client.products as unknown as Readonly<Record<string, Call>>)[`${verb}${pascal(name)}Module`]!

  const nameOf = (kind: NamedKind, uuid: string, holder: Json) => {
    const name = shownName(kind, holder)
    return typeof name === "string" ? Effect.succeed(name) : names.nameOf(kind, uuid as never)
  }

  const read = Effect.fnUntraced(function* (uuid: ProductId, name: ModuleName) {
    const answer = yield* call("get", name)({ params: { uuid } })
    const encoded = yield* encode(name)(answer)
    return writable(moduleOf(name), yield* renameEffect(moduleOf(name), encoded, nameOf))
  })

  /** Leaves out a module that was removed in the meantime or that the service cannot return, and keeps the others. */
  const readIfActive = (uuid: ProductId, name: ModuleName) =>
    Effect.catch(
      Effect.map(read(uuid, name), (settings): Modules => ({ [name]: settings })),
      (failure): Effect.Effect<Modules, Failure> => {
        if (failure._tag === "ModuleNotActiveError") return Effect.succeed({})
        if (failure._tag !== "InvalidTemplateModuleConfigurationError") return Effect.fail(failure)
        return Effect.as(Effect.logWarning(`Left out the template of product ${uuid}: ${failure.message}`), {})
      }
    )

  const payloadOf = Effect.fnUntraced(function* (name: ModuleName, settings: unknown) {
    const sent = yield* renameEffect(moduleOf(name), settings, (kind, reference) => names.uuidOf(kind, reference))
    return yield* Schema.decodeUnknownEffect(moduleOf(name).update)(sent)
  })

  const write = Effect.fnUntraced(function* (uuid: ProductId, name: ModuleName, settings: unknown) {
    const params = { uuid }
    if (settings === null) {
      return yield* Effect.catchIf(
        allowed(call("delete", name)({ params })),
        ({ _tag }) => _tag === "ModuleNotActiveError" || _tag === "ModuleIncompatibleWithProductTypeError",
        () => Effect.void
      )
    }
    const payload = yield* payloadOf(name, settings)
    return yield* Effect.mapError(allowed(call("update", name)({ params, payload })), within(name))
  })

  const given = (modules: Modules) => ModuleName.literals.filter((name) => modules[name] !== undefined)

  return {
    read: (uuid: ProductId, own: ReadonlyArray<ModuleName>) =>
      Effect.map(
        Effect.forEach(own, (name) => readIfActive(uuid, name)),
        (modules): Modules => Object.assign({}, ...modules)
      ),
    /** Replaces the given modules and removes those that are `null`. */
    write: (uuid: ProductId, modules: Modules = {}) =>
      Effect.forEach(given(modules), (name) => write(uuid, name, modules[name]), { discard: true }),
    /** Looks up the records that the modules name, and validates the modules as far as it goes without their product. */
    check: (modules: Modules = {}) =>
      Effect.forEach(
        given(modules).filter((name) => modules[name] !== null),
        (name) => payloadOf(name, modules[name]),
        { discard: true }
      )
  }
}
