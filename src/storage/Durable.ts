import { Effect, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { StorageUnavailableError } from "./Storage.ts"

/**
 * Files that are either complete or not there, whenever the machine stops. Bytes are written under a temporary name,
 * flushed, moved to their own name, and the folder that now holds the name is flushed too: without the last step a
 * file that was acknowledged can be missing after a power failure.
 */

/** A new file of mode 0600, with a temporary name; it is gone with the scope unless it was moved. */
export const temporaryFile = Effect.fnUntraced(function* (folder: string) {
  const path = join(folder, SecureRandom.uuidV4Unsafe())
  const handle = yield* Effect.acquireRelease(
    attempt(() => open(path, "wx", 0o600)),
    (handle) =>
      Effect.andThen(
        Effect.ignore(attempt(() => handle.close())),
        Effect.ignore(attempt(() => rm(path, { force: true })))
      )
  )
  return { path, handle } satisfies TemporaryFile
})

interface TemporaryFile {
  readonly path: string
  readonly handle: FileHandle
}

/** Appends all of the bytes. */
export const append = ({ handle }: TemporaryFile, bytes: Uint8Array) => attempt(() => handle.writeFile(bytes))

/** Gives a temporary file its own name; when this succeeds, it is there after a power failure too. */
export const publish = Effect.fnUntraced(function* ({ handle, path }: TemporaryFile, target: string) {
  yield* attempt(() => handle.sync())
  yield* move(path, target)
})

/** Moves a file or a folder that was flushed. */
export const move = Effect.fnUntraced(function* (from: string, to: string) {
  yield* attempt(() => rename(from, to))
  yield* syncFolder(dirname(to))
})

/**
 * Makes the folders below a folder that is there, and tells the last. They are flushed even if they exist: whoever made
 * them may have crashed before that.
 */
export const makeFolders = Effect.fnUntraced(function* (folder: string, names: ReadonlyArray<string>) {
  let parent = folder
  for (const name of names) {
    const child = join(parent, name)
    yield* attempt(() => mkdir(child, 0o700)).pipe(orOn("EEXIST", () => Effect.void))
    yield* syncFolder(parent)
    parent = child
  }
  return parent
})

/** Flushes the names in a folder. */
export const syncFolder = (path: string) =>
  Effect.scoped(Effect.flatMap(openFile(path), (folder) => attempt(() => folder.sync())))

/** A file or a folder for reading. */
export const openFile = (path: string): Effect.Effect<FileHandle, StorageUnavailableError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => open(path, "r")),
    (handle) => Effect.ignore(attempt(() => handle.close()))
  )

/** Runs an operation on files to its end: when a fiber has ended, nothing it began still touches the disk. */
export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, StorageUnavailableError> =>
  Effect.uninterruptible(
    Effect.tryPromise({
      try: run,
      catch: (cause) => {
        const code = codeOf(cause)
        const message = meanings[code ?? ""] ?? `The disk does not do what it should (${code ?? "no code"})`
        return new StorageUnavailableError({ message, cause })
      }
    })
  )

const notAllowed = "The folder of the files may not be used; it has to belong to the user the service runs as"

const meanings: Readonly<Record<string, string>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: "The disk of the files is mounted read-only",
  ENOSPC: "The disk of the files is full",
  EDQUOT: "The disk quota of the files is used up",
  EIO: "The disk of the files reports an error",
  ENOENT: "A file or folder that should be there is missing",
  EMFILE: "The process has too many files open",
  ENFILE: "The machine has too many files open"
}

const codeOf = (cause: unknown) =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** Instead of failing with an error of this code. */
export const orOn =
  <B, E2>(code: string, instead: () => Effect.Effect<B, E2>) =>
  <A, E, R>(self: Effect.Effect<A, E | StorageUnavailableError, R>) =>
    Effect.catchIf(self, (error) => error instanceof StorageUnavailableError && codeOf(error.cause) === code, instead)
