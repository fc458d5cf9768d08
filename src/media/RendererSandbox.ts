import { Effect, FileSystem, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { constants, open } from "node:fs/promises"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { codeOf, installed } from "../settings/Installation.ts"

/** What separates the process that decodes from the rest of the machine, beyond the permission model of Node. */
export interface RendererSandbox {
  /** The command under which it has no network; empty where that is not permitted. */
  readonly withoutNetwork: ReadonlyArray<string>
  /** Its user and group; `undefined` for those of the service. */
  readonly user: number | undefined
}

const isRoot = process.getuid?.() === 0

/** Root enters a network of its own directly, any other user as the root of a user namespace. */
const unshare = ["/usr/bin/unshare", ...(isRoot ? [] : ["--user", "--map-root-user"]), "--net"]

/** A user without a name, and so not that of PostgreSQL, which may be 65534 and does not run as a user without a name. */
const unprivileged = 65_533

/** What this machine permits; logs once what it does not. */
export const detect = Effect.fnUntraced(function* (program: string) {
  const withoutNetwork = yield* canUnshare
  if (!withoutNetwork)
    yield* Effect.logInfo(
      "The process that makes thumbnails has network access, because unshare --net is not permitted"
    )
  const isReadable = Effect.all([codeOf(""), program, process.execPath].map(isReadableByAll))
  const canChangeUser = isRoot && (yield* isCapable) && (yield* isReadable).every(Boolean)
  if (isRoot && !canChangeUser)
    yield* Effect.logInfo(
      "The process that makes thumbnails runs as root, because this container permits no other user or only root can read the program"
    )
  return {
    withoutNetwork: withoutNetwork ? unshare : [],
    user: canChangeUser ? unprivileged : undefined
  } satisfies RendererSandbox
})

const canUnshare = Effect.gen(function* () {
  if (process.platform !== "linux") return false
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const [command = "", ...words] = unshare
  const probe = ChildProcess.make(command, [...words, "/bin/true"], { stdout: "ignore", stderr: "ignore" })
  return yield* spawner.exitCode(probe).pipe(
    Effect.map((code) => Number(code) === 0),
    Effect.orElseSucceed(() => false)
  )
})

/** The capabilities to change owners and users, to use files of another user and to end its processes. */
const capabilities = 0xe3n

/** Whether root has its usual rights; a container may take them away. */
const isCapable = Effect.gen(function* () {
  const status = yield* (yield* FileSystem.FileSystem).readFileString("/proc/self/status")
  const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`)
  return (held & capabilities) === capabilities
}).pipe(Effect.orElseSucceed(() => process.platform !== "linux"))

/** Whether users other than the owner can read a file or folder and enter the folders above it. */
const isReadableByAll = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    if (((yield* fs.stat(file)).mode & 0o004) === 0) return false
    for (let folder = file; folder !== path.dirname(folder);) {
      folder = path.dirname(folder)
      if (((yield* fs.stat(folder)).mode & 0o001) === 0) return false
    }
    return true
  },
  Effect.orElseSucceed(() => false)
)

const packages = ["effect", "@effect/platform-node", "sharp", "@hyzyla/pdfium"]

/** The outermost folder of installed packages that a package is in. */
const folderOf = (name: string) => {
  const file = fileURLToPath(import.meta.resolve(name))
  const folder = "node_modules"
  return file.slice(0, file.indexOf(folder) + folder.length)
}

/** The flags of Node: the program reads its code and its folder, and writes to its folder only. */
export const flags = (folder: string, program: string, { spawns }: { readonly spawns: boolean }) => [
  "--permission",
  "--allow-addons",
  ...(spawns ? ["--allow-child-process"] : []),
  ...[
    ...new Set([
      codeOf(""),
      installed("dist/program"),
      program,
      installed("package.json"),
      ...packages.map(folderOf),
      folder
    ])
  ].map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${folder}`,
  "--disable-warning=PERM0001",
  "--disable-warning=PERM0002"
]

/**
 * A folder for the process, within one that it cannot write to: it cannot put a link in the place of its folder. Both are removed
 * with the scope.
 */
export const makeFolder = Effect.fnUntraced(function* ({ user }: RendererSandbox) {
  const fs = yield* FileSystem.FileSystem
  const outer = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-media-" })
  const folder = (yield* Path.Path).join(outer, "files")
  yield* fs.makeDirectory(folder, { mode: 0o700 })
  if (user !== undefined) {
    yield* fs.chown(folder, user, user)
    yield* fs.chmod(outer, 0o711)
  }
  return { outer, folder }
})

/** How much of a file is copied at once, in bytes. */
const chunkSize = 1024 * 1024

/**
 * Puts a file where the process may read it, under a name in its folder: a link, which the permission model follows, or a
 * copy for another user. Windows permits links to administrators only. The copy is made outside of the folder, where a link with
 * its name could lead it to a file of root, and in pieces, because it may take long and ends with the turn of the file.
 */
export const lend = Effect.fnUntraced(function* ({ user }: RendererSandbox, file: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const copied = `${dirname(name)}.lent`
  const own = user === undefined ? Effect.void : fs.chown(copied, user, user)
  const written = Stream.run(fs.stream(file, { chunkSize }), fs.sink(copied, { mode: 0o600 }))
  const copy = Effect.all([written, own, fs.rename(copied, name)], { discard: true })
  const remove = (path: string) => Effect.ignore(fs.remove(path, { force: true }))
  yield* Effect.addFinalizer(() => Effect.forEach([copied, name], remove, { discard: true }))
  yield* user === undefined && process.platform !== "win32" ? fs.symlink(file, name) : copy
})

/** The process left no file of its own with a plausible size. */
export class ImplausibleResultError extends Schema.TaggedError<ImplausibleResultError>()("ImplausibleResultError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {}

// Ten times the size that an image can have. The process decodes untrusted files, so larger output is not accepted.
const maxResultBytes = 32 * 1024 * 1024

/** Without the wait for the other end of a pipe. */
const noLink = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Reads a file that the process made. A link is not followed, and a file of another user is not read. */
export const result = ({ user }: RendererSandbox, file: string): Effect.Effect<Uint8Array, ImplausibleResultError> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file, noLink)
      try {
        const stat = await handle.stat()
        if (!stat.isFile() || (user !== undefined && stat.uid !== user)) throw new Error("It is no file of the process")
        if (stat.size > maxResultBytes) throw new Error("It is implausibly large")
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(stat.size), 0, stat.size, 0)
        return buffer.subarray(0, bytesRead)
      } finally {
        await handle.close()
      }
    },
    catch: (cause) => new ImplausibleResultError({ message: "The file of the process cannot be read", cause })
  })
