import { Effect, Number, Option } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as Subprocess from "./Subprocess.ts"

const idOf = Effect.fnUntraced(function* (option: "-u" | "-g" | "-un", user: string) {
  const { status, stdout } = yield* Subprocess.run("id", [option, user])
  return status === 0 ? Option.some(stdout.trim()) : Option.none()
})

const named = Effect.fnUntraced(function* (name: string) {
  const uid = Option.flatMap(yield* idOf("-u", name), Number.parse)
  const gid = Option.flatMap(yield* idOf("-g", name), Number.parse)
  return Option.all({ name: Option.some(name), uid, gid })
})

/**
 * The user that PostgreSQL runs as; none means the current one. PostgreSQL does not run as root, or as a user id without a
 * name. The owner of an existing database comes first, so that a start as root does not change its owner.
 */
export const find = Effect.fnUntraced(function* (owner: Option.Option<number>) {
  if (process.getuid?.() !== 0) return Option.none<Subprocess.Account>()
  const ownerName =
    Option.isSome(owner) && owner.value !== 0 ? yield* idOf("-un", String(owner.value)) : Option.none<string>()
  for (const name of [...Option.toArray(ownerName), "postgres", "nobody"]) {
    const account = yield* named(name)
    if (Option.isSome(account)) return account
  }
  return yield* new EmbeddedPostgresError({
    message:
      'PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody" to run ' +
      "it as. Start the service as an ordinary user, or set DATABASE_URL to a PostgreSQL server."
  })
})

/** Checked by the system instead of by mode bits, so that ACLs and mount options count. */
export const canEnter = Effect.fnUntraced(function* (account: Option.Option<Subprocess.Account>, folder: string) {
  if (Option.isNone(account)) return true
  const { status } = yield* Subprocess.run("/bin/sh", ["-c", 'test -x "$1"', "sh", folder], account)
  return status === 0
})
