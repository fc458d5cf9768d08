import { Effect, FileSystem, Option, Schedule, Schema } from "effect"
import { hostname } from "node:os"
import { isRunning } from "../../storage/Processes.ts"

/** Another process keeps the mirror up to date. */
class LockedError extends Schema.TaggedError<LockedError>()("LockedError", { message: Schema.String }) {}

/** The process that keeps a mirror up to date. In a container its number is the same after each start. */
const Owner = Schema.fromJsonString(Schema.Struct({ host: Schema.String, pid: Schema.Int, started: Schema.String }))
type Owner = typeof Owner.Type

/** When a process of this host has started, as Linux counts; empty if that is not known. */
const startOf = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/stat`), () => "")
  // The name of the program, in parentheses, can have spaces.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
})

/** Whether the owner of a lock may still be running. That of another host is not known. */
const isHeld = Effect.fnUntraced(function* ({ host, pid, started }: Owner) {
  if (host !== hostname()) return true
  if (!isRunning(pid)) return false
  const found = yield* startOf(pid)
  return found === "" || started === "" || found === started
})

/** The text of the lock of a process. */
export const textFor = Effect.fnUntraced(function* (pid: number) {
  const owner: Owner = { host: hostname(), pid, started: yield* startOf(pid) }
  return `${Schema.encodeSync(Owner)(owner)}\n`
})

/** Keeps other runs from a mirror within a scope: two of them would write the lines of one and the cursor of the other. */
export const locked = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const lock = `${file}.lock`
  const own = yield* textFor(process.pid)
  const create = (path: string) => fs.writeFileString(path, own, { flag: "wx", mode: 0o600 })

  /** Fails if a process holds the lock. A lock without text was just created, or its process ended then. */
  const check = Effect.gen(function* () {
    const text = yield* Effect.repeat(fs.readFileString(lock), {
      until: (text) => text !== "",
      times: 10,
      schedule: Schedule.spaced("10 millis")
    })
    const owner = Schema.decodeOption(Owner)(text)
    if (Option.isNone(owner) || !(yield* isHeld(owner.value))) return
    const { host, pid } = owner.value
    return yield* new LockedError({
      message: `Process ${pid} on ${host} keeps ${file} up to date. Wait for it, or remove ${lock} if it has ended`
    })
  })

  const guard = `${lock}.removing`
  /** Removes the lock of a process that has ended. Of several runs one does, so that none removes the lock that another one then has. */
  const removeStale = Effect.acquireUseRelease(
    Effect.catchReason(create(guard), "PlatformError", "AlreadyExists", () =>
      Effect.fail(new LockedError({ message: `Another run removes ${lock}. Remove ${guard} if none is running` }))
    ),
    () => Effect.andThen(check, fs.remove(lock)),
    () => Effect.ignore(fs.remove(guard))
  )

  const take: Effect.Effect<void, Effect.Error<typeof removeStale>, FileSystem.FileSystem> = Effect.catchReason(
    create(lock),
    "PlatformError",
    "AlreadyExists",
    () =>
      Effect.andThen(check, removeStale).pipe(
        // It was released in between.
        Effect.catchReason("PlatformError", "NotFound", () => Effect.void),
        Effect.andThen(Effect.suspend(() => take))
      )
  )
  yield* Effect.acquireRelease(take, () => Effect.ignore(fs.remove(lock)))
})
