import { Effect, FileSystem, Number, Option, Path } from "effect"
import { tmpdir } from "node:os"
import * as Accounts from "./Accounts.ts"
import * as Postmaster from "./Postmaster.ts"
import type * as Subprocess from "./Subprocess.ts"

// The address of a Unix socket holds 104 bytes on macOS and 108 on Linux, the final zero included.
const longestSocket = 103

/** Names the process that owns the server. */
const prefix = `waypost-${process.pid}-`

/** The process that owns the server of a socket; none for the server of a version that did not name it. */
export const ownerOf = Effect.fnUntraced(function* (socket: string) {
  const path = yield* Path.Path
  const [, pid = ""] = /^waypost-(\d+)-/.exec(path.basename(path.dirname(socket))) ?? []
  return Number.parse(pid)
})

/** A new directory for the socket, removed with the scope. */
export const make = Effect.fnUntraced(function* (account: Option.Option<Subprocess.Account>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const preferred = tmpdir()
  const short = path.join(preferred, `${prefix}XXXXXX/.s.PGSQL.${Postmaster.port}.lock`).length <= longestSocket
  const folder = short && (yield* Accounts.canEnter(account, preferred)) ? preferred : "/tmp"
  const directory = yield* fs.makeTempDirectoryScoped({ directory: folder, prefix })
  // The file names the real path, which on macOS is another one than the temporary folder's.
  const real = yield* fs.realPath(directory)
  if (Option.isSome(account)) yield* fs.chown(real, account.value.uid, account.value.gid)
  return real
})

/** Whether only the server or the current user can have created it. A link is rejected. */
const isOurs = Effect.fnUntraced(function* (directory: string, account: Option.Option<Subprocess.Account>) {
  const fs = yield* FileSystem.FileSystem
  if ((yield* fs.realPath(directory)) !== directory) return false
  const { mode, type, uid } = yield* fs.stat(directory)
  const owners = [process.getuid?.(), ...Option.toArray(account).map(({ uid }) => uid)]
  return type === "Directory" && (mode & 0o777) === 0o700 && owners.includes(Option.getOrUndefined(uid))
})

/** Creates a removed directory again under its name; rejects one that another user created concurrently. */
export const again = Effect.fnUntraced(function* (directory: string, account: Option.Option<Subprocess.Account>) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(directory, { mode: 0o700 }).pipe(
    // A guard that was killed with its server did not remove it.
    Effect.catchReason("PlatformError", "AlreadyExists", (_, error) =>
      Effect.flatMap(isOurs(directory, account), (ours) => (ours ? Effect.void : Effect.fail(error)))
    )
  )
  if (Option.isSome(account)) yield* fs.chown(directory, account.value.uid, account.value.gid)
})
