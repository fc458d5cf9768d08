import { Effect, FileSystem, Option, Schema, Stream } from "effect"
import { CommandError, inFile } from "../Failures.ts"
import { replace } from "../Replace.ts"

/** Where a mirror stands: the cursor, and for which resource and permissions it is valid. */
const State = Schema.fromJsonString(
  Schema.Struct({ resource: Schema.String, permissions: Schema.Array(Schema.String), cursor: Schema.String })
)
export type State = typeof State.Type

const stateOf = (file: string) => `${file}.cursor`

/** The state of a mirror; none if it is to begin. A file without a state, or a mirror of another resource, is not overwritten. */
export const load = Effect.fnUntraced(function* (file: string, resource: string) {
  const fs = yield* FileSystem.FileSystem
  const hasFile = yield* fs.exists(file)
  if (!(yield* fs.exists(stateOf(file)))) {
    if (!hasFile) return Option.none<State>()
    return yield* new CommandError({
      message: `${file} exists and is not a mirror: there is no ${stateOf(file)}. Name another file, or remove it`
    })
  }
  if (!hasFile) return Option.none<State>()
  const state = Schema.decodeOption(State)(yield* fs.readFileString(stateOf(file)))
  if (Option.isSome(state) && state.value.resource !== resource) {
    return yield* new CommandError({
      message: `${file} is a mirror of ${state.value.resource}. Name another file, or remove it`
    })
  }
  return state
})

const uuidOf = (line: string) => /^\{"uuid":"([^"]+)"/.exec(line)?.[1] ?? ""

/** The lines of a mirror that begins. The file stays unchanged until they are complete. */
const beginningOf = (file: string) => `${file}.new`

/** Begins a mirror within a scope, without the lines that an interrupted run has left. */
export const begin = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const remove = fs.remove(beginningOf(file), { force: true })
  yield* Effect.acquireRelease(remove, () => Effect.ignore(remove))
})

export interface Batch {
  readonly changes: ReadonlyMap<string, string | undefined>
  readonly state: State
  /** Whether the mirror begins, and whether this is the last batch of the run. */
  readonly begins: boolean
  readonly isLast: boolean
}

/**
 * Applies changes to the lines of a mirror, then moves its cursor; of a mirror that begins only after the last batch. After a
 * crash in between, the same changes are applied again, which gives the same lines. A file without a cursor would be no mirror, so
 * the cursor comes first where there is no file yet: a cursor without a file begins again.
 */
export const apply = Effect.fnUntraced(function* (file: string, { begins, changes, isLast, state }: Batch) {
  const fs = yield* FileSystem.FileSystem
  const target = begins ? beginningOf(file) : file
  const isNew = begins && !(yield* fs.exists(target))
  if (isNew || changes.size > 0) {
    const rest = new Map(changes)
    const kept = isNew
      ? Stream.empty
      : fs.stream(target).pipe(
          Stream.mapError(inFile(target)),
          Stream.decodeText,
          Stream.splitLines,
          Stream.map((line) => {
            const uuid = uuidOf(line)
            if (!changes.has(uuid)) return `${line}\n`
            rest.delete(uuid)
            const changed = changes.get(uuid)
            return changed === undefined ? "" : `${changed}\n`
          })
        )
    const added = Stream.suspend(() =>
      Stream.fromIterable([...rest.values()].flatMap((line) => (line === undefined ? [] : [`${line}\n`])))
    )
    yield* replace(target, Stream.concat(kept, added))
  }
  if (begins && !isLast) return
  const move = replace(stateOf(file), Stream.succeed(`${Schema.encodeSync(State)(state)}\n`))
  if (!begins) return yield* move
  const begin = fs.rename(target, file)
  const hasFile = yield* fs.exists(file)
  yield* hasFile ? Effect.andThen(begin, move) : Effect.andThen(move, begin)
})
