import { Console, DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiKey, ApiKeyCreate, ApiKeyCreated } from "../../domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../../domain/keys/ApiKeySecret.ts"
import { isUuid, Timestamp } from "../../domain/schema/Fields.ts"
import { Permission, presets } from "../../domain/keys/Permission.ts"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import { describe } from "../../domain/write/Issues.ts"
import { json, optionalText, toggle } from "../CommonFlags.ts"
import { ApiKeys as Repository } from "../../repositories/keys/ApiKeys.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import * as Database from "../Database.ts"
import { CommandError } from "../Failures.ts"
import * as KeyTable from "./KeyTable.ts"

/** Completes a day, or a time without milliseconds, to the form that the API requires. */
const completeTime = (time: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(time) ? `${time}T00:00:00.000Z` : time.replace(/:(\d{2})Z$/, ":$1.000Z")

/** The time of `--expires-at` as the API requires it. */
const expiryOf = Effect.fnUntraced(function* (given: string) {
  const time = completeTime(given)
  const now = yield* DateTime.now
  if (Option.exists(Schema.decodeOption(Timestamp)(time), DateTime.isGreaterThan(now))) return time
  const next = DateTime.getPartUtc(now, "year") + 1
  return yield* new CommandError({
    message: `--expires-at ${given}: expected a time in the future, such as ${next}-01-31 or ${next}-01-31T09:30:00Z`
  })
})

const permissionsOf = (permissions: ReadonlyArray<Permission>, preset: Option.Option<string>) =>
  permissions.length > 0 === Option.isSome(preset)
    ? Effect.fail(
        new CommandError({ message: "Set the permissions of the key: either --permission, once for each, or --preset" })
      )
    : Effect.succeed(Option.match(preset, { onNone: () => permissions, onSome: (name) => presets[name] ?? [] }))

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("A name that says what the key is used for")),
    permissions: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withAlias("p"),
      Flag.withDescription("A permission, such as read:locations; may be given several times"),
      Flag.atLeast(0)
    ),
    preset: Flag.Literals("preset", Object.keys(presets)).pipe(
      Flag.withDescription("A named set of permissions"),
      Flag.optional
    ),
    expiresAt: optionalText("expires-at", "The time at which the key expires: 2027-01-31 or 2027-01-31T09:30:00Z"),
    json
  },
  Effect.fnUntraced(function* ({ expiresAt, json, name, permissions, preset }) {
    const keys = yield* ApiKeys
    const request = {
      name,
      permissions: yield* permissionsOf(permissions, preset),
      ...(Option.isSome(expiresAt) ? { expiresAt: yield* expiryOf(expiresAt.value) } : {})
    }
    const key = yield* Schema.decodeUnknownEffect(ApiKeyCreate)(request, { errors: "all" }).pipe(
      Effect.catchTag("SchemaError", ({ issue }) => {
        const problems = describe(issue, "body").map(({ message, path }) => `${path}: ${message}`)
        return Effect.fail(new CommandError({ message: problems.join("\n") }))
      })
    )
    yield* Database.printInstallation
    const created = yield* keys.createUnchecked(key)
    if (json) return yield* Console.log(JSON.stringify(yield* Schema.encodeEffect(ApiKeyCreated)(created)))
    yield* Console.log(KeyTable.created(created))
  })
).pipe(
  Command.withDescription("Create an API key and print it; it is shown only once"),
  Command.withExamples([
    { command: "waypost keys create --name ERP --preset location-sync" },
    { command: "waypost keys create --name Website -p read:locations -p read:assets --expires-at 2027-01-31" }
  ])
)

const Page = Schema.fromJsonString(Schema.Array(ApiKey))

/** Every key, oldest first. */
const all = Effect.gen(function* () {
  const apiKeys = yield* Repository
  const keys: Array<ApiKey> = []
  for (let page = 1; ; page++) {
    const { data, pagination } = yield* apiKeys.list({ limit: maxLimit, page, sortBy: "createdAt", sortOrder: "asc" })
    keys.push(...(yield* Schema.decodeEffect(Page)(data)))
    if (page >= (pagination.pageCount ?? 0)) return keys
  }
})

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    yield* Database.printInstallation
    const keys = yield* all
    if (json) return yield* Console.log(yield* Schema.encodeEffect(Page)(keys))
    yield* Console.log(KeyTable.list(keys, yield* DateTime.now))
  })
).pipe(
  Command.withDescription("List the API keys, without their secrets"),
  Command.withExamples([{ command: "waypost keys list" }, { command: "waypost keys list --json" }])
)

/** Finds a key by its uuid, its prefix or its text. */
const find = (text: string) =>
  Effect.gen(function* () {
    const prefix = Option.match(ApiKeySecret.parse(text), {
      onNone: () => text,
      onSome: ({ id }) => ApiKeySecret.prefixOf(id)
    })
    const found = (yield* all).find((key) => key.uuid === text.toLowerCase() || key.prefix === prefix)
    if (found !== undefined) return found
    const kind = isUuid(text.toLowerCase()) ? "uuid" : "prefix"
    return yield* new CommandError({
      message: `No API key has the ${kind} ${prefix}; list them with waypost keys list`
    })
  })

const revoke = Command.make(
  "revoke",
  {
    key: Argument.String("key").pipe(Argument.withDescription("The uuid or the prefix of the key")),
    descendants: toggle("descendants", "Also revoke every key that the key created, directly or through other keys"),
    json
  },
  Effect.fnUntraced(function* ({ descendants, json, key }) {
    yield* Database.printInstallation
    const keys = yield* ApiKeys
    const found = yield* find(key)
    const { also = [] } = yield* keys.revoke(found.uuid, noPrecondition, { descendants })
    const more = descendants ? ` and ${also.length} keys that it created` : ""
    yield* Console.log(
      json
        ? JSON.stringify({ uuid: found.uuid })
        : `Revoked "${found.name}" (${found.prefix})${more}; revoked keys stop working within a second`
    )
  })
).pipe(
  Command.withDescription("Revoke an API key; it stays in the list"),
  Command.withExamples([
    { command: "waypost keys revoke wp_665UkvaK2vnYFBtYOGBZOS" },
    { command: "waypost keys revoke wp_665UkvaK2vnYFBtYOGBZOS --descendants" }
  ])
)

/** `waypost keys` */
export const command = Command.make("keys").pipe(
  Command.withDescription(
    "Create, list and revoke API keys directly in the database; needs neither a running service nor a key"
  ),
  Command.withExamples([
    { command: "waypost keys create --name Shop -p read:locations" },
    { command: "waypost keys list" },
    { command: "waypost keys revoke wp_665UkvaK2vnYFBtYOGBZOS" }
  ]),
  Command.withSubcommands([
    create.pipe(Command.provide(Database.existingKeys)),
    list.pipe(Command.provide(Database.existingKeys)),
    revoke.pipe(Command.provide(Database.existingKeys))
  ])
)
