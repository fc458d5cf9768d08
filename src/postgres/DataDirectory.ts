import { Effect, FileSystem, Option, Path } from "effect"
import { createHash } from "node:crypto"
import * as Accounts from "./Accounts.ts"
import * as AtomicDirectory from "./AtomicDirectory.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import type { NativeBinaries } from "./NativeBinaries.ts"
import * as Subprocess from "./Subprocess.ts"

export interface DataDirectory {
  /** Absolute and without symbolic links, so that two processes have the same name for a directory. */
  readonly directory: string
  /** The account that PostgreSQL runs as; none means the current user. */
  readonly account: Option.Option<Subprocess.Account>
  /** The configured directory, if the account cannot reach it. */
  readonly movedFrom: Option.Option<string>
}

export const username = "waypost"

// Where root keeps what an unprivileged user must reach.
const sharedFolder = "/var/lib/waypost"

const versionOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* fs.readFileString(path.join(directory, "PG_VERSION")).pipe(
    Effect.map((version) => Option.some(version.trim())),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone)
  )
})

/** The path without symbolic links, of which only the last name may be absent. */
const withoutLinks = Effect.fnUntraced(function* (resolved: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return (yield* fs.exists(resolved))
    ? yield* fs.realPath(resolved)
    : path.join(yield* fs.realPath(path.dirname(resolved)), path.basename(resolved))
})

const canonical = Effect.fnUntraced(function* (dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const resolved = path.resolve(dataDir)
  yield* fs.makeDirectory(path.dirname(resolved), { recursive: true })
  return yield* withoutLinks(resolved)
})

/** Where a directory is kept that the account of PostgreSQL cannot reach. */
const movedFrom = (path: Path.Path, asked: string) => {
  const hash = createHash("sha256").update(asked).digest("hex").slice(0, 12)
  return path.join(sharedFolder, `${path.basename(asked)}-${hash}`)
}

/** Whether there is a database where `locate` finds it. Creates nothing. */
export const exists = Effect.fnUntraced(function* (dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const resolved = path.resolve(dataDir)
  if (!(yield* fs.exists(path.dirname(resolved)))) return false
  const asked = yield* withoutLinks(resolved)
  if (Option.isSome(yield* versionOf(asked))) return true
  return process.getuid?.() === 0 && Option.isSome(yield* versionOf(movedFrom(path, asked)))
})

const ownerOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(directory).pipe(
    Effect.map(({ uid }) => uid),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone)
  )
})

/**
 * Decides where the database is. Started as root, below a home that is closed to everyone else, it is kept under
 * /var/lib instead. A database that exists decides before what is reachable today, or a changed mode of some folder
 * would quietly begin a second, empty one.
 */
export const locate = Effect.fnUntraced(function* (dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const asked = yield* canonical(dataDir)
  const account = yield* Accounts.find(yield* ownerOf(asked))
  const inPlace: DataDirectory = { directory: asked, account, movedFrom: Option.none() }
  if (Option.isNone(account)) return inPlace
  const moved = movedFrom(path, asked)
  const exists = Option.isSome(yield* versionOf(asked))
  const reachable = yield* Accounts.canEnter(account, path.dirname(asked))
  if (exists && !reachable) {
    return yield* new EmbeddedPostgresError({
      message:
        `The database in ${asked} cannot be reached by the user "${account.value.name}", whom PostgreSQL ` +
        "runs as instead of root. Let other users pass through the folders above it (chmod o+x), or start " +
        "the service as the user who owns them."
    })
  }
  if (exists || (reachable && Option.isNone(yield* versionOf(moved)))) return inPlace
  yield* fs.makeDirectory(sharedFolder, { recursive: true })
  yield* fs.chmod(sharedFolder, 0o755)
  return { directory: moved, account: yield* Accounts.find(yield* ownerOf(moved)), movedFrom: Option.some(asked) }
})

const initialise = Effect.fnUntraced(function* (
  { account, directory }: DataDirectory,
  binaries: NativeBinaries,
  durable: boolean
) {
  const fs = yield* FileSystem.FileSystem
  yield* AtomicDirectory.create(
    directory,
    "init",
    Effect.fnUntraced(function* (temporary) {
      if (Option.isSome(account)) yield* fs.chown(temporary, account.value.uid, account.value.gid)
      // Trust, because who may enter the socket directory decides. The builtin locale sorts alike on every machine.
      const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
      const rest = durable ? ["--no-instructions"] : ["--no-instructions", "--no-sync"]
      const { status, stderr } = yield* Subprocess.run(
        binaries.initdb,
        ["-D", temporary, "-U", username, "--auth=trust", ...locale, ...rest],
        account
      )
      if (status === 0) return
      return yield* new EmbeddedPostgresError({
        message: `A database could not be created in ${directory}: initdb ended with ${status}. ${stderr.trim()}`
      })
    })
  )
})

const chownTree = Effect.fnUntraced(function* (directory: string, { gid, uid }: Subprocess.Account) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.forEach(
    [".", ...(yield* fs.readDirectory(directory, { recursive: true }))],
    (name) => fs.chown(path.join(directory, name), uid, gid),
    { concurrency: 8, discard: true }
  )
})

/** Creates the database if it does not exist, and checks that these binaries can serve it. */
export const prepare = Effect.fnUntraced(function* (data: DataDirectory, binaries: NativeBinaries, durable: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { account, directory } = data
  // Another process may have completed the first start of a killed one, so this does not only follow creation.
  yield* AtomicDirectory.sweep(directory, "init")
  if (Option.isNone(yield* versionOf(directory))) {
    if ((yield* fs.exists(directory)) && (yield* fs.readDirectory(directory)).length > 0) {
      return yield* new EmbeddedPostgresError({
        message:
          `${directory} should become the directory of the database, but it holds other files. Move them away, ` +
          "or choose another DATA_DIR."
      })
    }
    yield* initialise(data, binaries, durable)
  }
  const version = Option.getOrElse(yield* versionOf(directory), () => "unknown")
  if (version !== binaries.major) {
    return yield* new EmbeddedPostgresError({
      message:
        `The database in ${directory} was made by PostgreSQL ${version}, and this version of Waypost bundles ` +
        `PostgreSQL ${binaries.major}, which cannot read it. Nothing was changed. Make a backup with the version of ` +
        "Waypost that made it (waypost backup), and restore it with this one into an empty DATA_DIR (waypost restore); or " +
        `run PostgreSQL ${version} on that directory yourself and set DATABASE_URL.`
    })
  }
  if (Option.isSome(account) && !Option.contains(yield* ownerOf(directory), account.value.uid)) {
    yield* chownTree(directory, account.value)
  }
})
