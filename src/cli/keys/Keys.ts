import { Console, DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiKey, ApiKeyCreate, ApiKeyCreated } from "../../domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../../domain/keys/ApiKeySecret.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import { Permission, presets } from "../../domain/keys/Permission.ts"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import { describe } from "../../domain/write/Issues.ts"
import { ApiKeys as Repository } from "../../repositories/keys/ApiKeys.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import { CommandError } from "../Failures.ts"
import * as KeyTable from "./KeyTable.ts"

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, for machines"), Flag.withDefault(false))

/** A time may be given as a day, or without the milliseconds that the API insists on. */
const complete = (time: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(time) ? `${time}T00:00:00.000Z` : time.replace(/:(\d{2})Z$/, ":$1.000Z")

const permissionsOf = (permissions: ReadonlyArray<Permission>, preset: Option.Option<string>) =>
  permissions.length > 0 === Option.isSome(preset)
    ? Effect.fail(
        new CommandError({ message: "Say what the key may do: either --permission, as often as needed, or --preset" })
      )
    : Effect.succeed(Option.match(preset, { onNone: () => permissions, onSome: (name) => presets[name] ?? [] }))

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("What the key is for; people recognise it by this")),
    permissions: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withAlias("p"),
      Flag.withDescription("A permission, such as read:locations; may be given several times"),
      Flag.atLeast(0)
    ),
    preset: Flag.Literals("preset", Object.keys(presets)).pipe(
      Flag.withDescription("A set of permissions with a name"),
      Flag.optional
    ),
    expiresAt: Flag.String("expires-at").pipe(
      Flag.withDescription("When the key stops working: 2027-01-31 or 2027-01-31T09:30:00Z"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function* ({ expiresAt, json, name, permissions, preset }) {
    const keys = yield* ApiKeys
    const request = {
      name,
      permissions: yield* permissionsOf(permissions, preset),
      ...(Option.isSome(expiresAt) ? { expiresAt: complete(expiresAt.value) } : {})
    }
    const key = yield* Schema.decodeUnknownEffect(ApiKeyCreate)(request, { errors: "all" }).pipe(
      Effect.catchTag("SchemaError", ({ issue }) => {
        const problems = describe(issue, "body").map(({ message, path }) => `${path}: ${message}`)
        return Effect.fail(new CommandError({ message: problems.join("\n") }))
      })
    )
    if (key.expiresAt && !(yield* DateTime.isFuture(key.expiresAt))) {
      return yield* new CommandError({ message: "expiresAt: Expected a time in the future" })
    }
    const created = yield* keys.createUnchecked(key)
    if (json) return yield* Console.log(JSON.stringify(yield* Schema.encodeEffect(ApiKeyCreated)(created)))
    yield* Console.log(KeyTable.created(created))
  })
).pipe(
  Command.withDescription("Make an API key and print it; it is shown this once"),
  Command.withExamples([
    { command: "waypost keys create --name ERP --preset location-sync" },
    { command: "waypost keys create --name Website -p read:locations -p read:assets --expires-at 2027-01-31" }
  ])
)

const Page = Schema.fromJsonString(Schema.Array(ApiKey))

/** Every key, oldest first. */
const all = Effect.gen(function* () {
  const repository = yield* Repository
  const keys: Array<ApiKey> = []
  for (let page = 1; ; page++) {
    const { data, pagination } = yield* repository.list({ limit: 500, page, sortBy: "createdAt", sortOrder: "asc" })
    keys.push(...(yield* Schema.decodeEffect(Page)(data)))
    if (page >= pagination.pageCount) return keys
  }
})

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const keys = yield* all
    if (json) return yield* Console.log(yield* Schema.encodeEffect(Page)(keys))
    yield* Console.log(KeyTable.list(keys, yield* DateTime.now))
  })
).pipe(Command.withDescription("List the API keys, without their secrets"))

/** A key is named by its uuid, by its prefix, or by itself when it is what leaked. */
const find = (named: string) =>
  Effect.gen(function* () {
    const prefix = Option.match(ApiKeySecret.parse(named), {
      onNone: () => named,
      onSome: ({ id }) => ApiKeySecret.prefixOf(id)
    })
    const found = (yield* all).find((key) => key.uuid === named.toLowerCase() || key.prefix === prefix)
    if (found !== undefined) return found
    const kind = isUuid(named.toLowerCase()) ? "uuid" : "prefix"
    return yield* new CommandError({ message: `No API key has the ${kind} ${prefix}; waypost keys list shows them` })
  })

const revoke = Command.make(
  "revoke",
  { key: Argument.String("key").pipe(Argument.withDescription("The uuid or the prefix of the key")), json },
  Effect.fnUntraced(function* ({ json, key }) {
    const keys = yield* ApiKeys
    const found = yield* find(key)
    yield* keys.revoke(found.uuid, noPrecondition)
    yield* Console.log(
      json
        ? JSON.stringify({ uuid: found.uuid })
        : `Revoked "${found.name}" (${found.prefix}); it stops working within a second`
    )
  })
).pipe(Command.withDescription("End an API key at once; its row stays in the list"))

/** `waypost keys` */
export const command = Command.make("keys").pipe(
  Command.withDescription(
    "Make, list and revoke API keys, in the database itself: no service has to run and no key is needed"
  ),
  Command.withSubcommands([create, list, revoke])
)
