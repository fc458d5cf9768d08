import { Effect, PartitionedSemaphore, type Scope, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { CurrentShare } from "../domain/keys/Share.ts"
import { StorageUnavailableError } from "./Storage.ts"

/**
 * Files that are either complete or absent, whenever the machine stops. Bytes are written under a temporary name, flushed
 * and renamed, and the folder of the new name is flushed too: without the last step an acknowledged file can be missing
 * after a power failure.
 */

/** A new file of mode 0600 with a temporary name; the scope removes it unless it was renamed. */
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

export interface TemporaryFile {
  readonly path: string
  readonly handle: FileHandle
}

/** Appends all of the bytes. */
export const append = ({ handle }: TemporaryFile, bytes: Uint8Array) => attempt(() => handle.writeFile(bytes))

/** Renames a temporary file durably. */
export const publish = Effect.fnUntraced(function* ({ handle, path }: TemporaryFile, target: string) {
  yield* flush(handle)
  yield* move(path, target)
})

/** Renames a flushed file or folder durably. */
export const move = Effect.fnUntraced(function* (from: string, to: string) {
  yield* attempt(() => rename(from, to))
  yield* syncFolder(dirname(to))
})

/**
 * Makes nested folders below an existing one and returns the path of the last. Folders that exist are flushed too, because
 * the process that made them may have crashed before it flushed them.
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

/** Flushes the entries of a folder. */
export const syncFolder = (path: string) => Effect.scoped(Effect.flatMap(openFile(path), flush))

/** The threads of this process for operations on files; Node has four unless this is set. */
const threads = Number(process.env["UV_THREADPOOL_SIZE"]) || 4

/** The threads that flush. The others are for what takes a moment: every read of a file and the check of readiness. */
const flushing = PartitionedSemaphore.makeUnsafe<string>({ permits: Math.max(1, Math.floor((threads * 3) / 4)) })

/** How many of them a share may have. */
const maxOfShare = Math.max(2, Math.floor(threads / 4))

/** The shares with flushes, and how many these are. */
const shares = new Map<string, { readonly own: Semaphore.Semaphore; flushes: number }>()

/** Flushes a file or a folder. A large file holds its thread for many seconds, so that a share has a part of the threads. */
export const flush = (handle: FileHandle) =>
  Effect.flatMap(CurrentShare, ({ id }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const share = shares.get(id) ?? { own: Semaphore.makeUnsafe(maxOfShare), flushes: 0 }
        shares.set(id, share)
        share.flushes++
        return share
      }),
      ({ own }) => own.withPermit(flushing.withPermit(id)(attempt(() => handle.sync()))),
      (share) =>
        Effect.sync(() => {
          share.flushes--
          if (share.flushes === 0) shares.delete(id)
        })
    )
  )

/** Opens a file or a folder for reading. */
export const openFile = (path: string): Effect.Effect<FileHandle, StorageUnavailableError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => open(path, "r")),
    (handle) => Effect.ignore(attempt(() => handle.close()))
  )

/** Runs a file operation without interruption, so that no operation outlives its fiber. */
export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, StorageUnavailableError> =>
  Effect.uninterruptible(
    Effect.tryPromise({
      try: run,
      catch: (cause) => {
        const code = codeOf(cause)
        const message = meanings[code ?? ""] ?? `A file operation failed (${code ?? "no code"})`
        return new StorageUnavailableError({ message, cause })
      }
    })
  )

const notAllowed = "The service may not use the folder of the files; its user must own the folder"

const notFolder = "There is a file where the folder of the files should be"

const meanings: Readonly<Record<string, string>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: "The disk of the files is mounted read-only",
  EEXIST: notFolder,
  ENOTDIR: notFolder,
  ENOSPC: "The disk of the files is full",
  EDQUOT: "The disk quota of the files is used up",
  EIO: "The disk of the files reports an error",
  ENOENT: "A file or folder is missing",
  EMFILE: "The process has too many files open",
  ENFILE: "The machine has too many files open"
}

const codeOf = (cause: unknown) =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** Recovers from errors of one code. */
export const orOn =
  <B, E2>(code: string, instead: () => Effect.Effect<B, E2>) =>
  <A, E, R>(self: Effect.Effect<A, E | StorageUnavailableError, R>) =>
    Effect.catchIf(self, (error) => error instanceof StorageUnavailableError && codeOf(error.cause) === code, instead)
