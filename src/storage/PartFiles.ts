import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { attempt, move, orOn } from "./Durable.ts"
import { type ListedPart, missingPart, unknownUpload } from "./PartList.ts"
import type { StorageUnavailableError, StoredPart } from "./Storage.ts"

/**
 * The parts of an upload are files named `<number>-<uuid>-<entity tag>`. So a part and its tag appear in one step. Of two
 * parts with one number the greater uuid is the newer one, because times of files are too coarse to order them.
 */
const newPartFile = (folder: string, { eTag, partNumber, size }: StoredPart): string =>
  join(folder, `${partNumber}-${newAge(size)}-${eTag}`)

/**
 * A uuid of version 7, whose last 32 bits order nothing. One of version 8 has the size of the part there, if it fits: so the
 * names of a folder are enough to count its parts. Nodes of earlier versions read and order such a uuid like any other.
 */
const newAge = (size: number): string => {
  const uuid = SecureRandom.uuidV7Unsafe()
  if (size >= 2 ** 32) return uuid
  return `${uuid.slice(0, 14)}8${uuid.slice(15, -8)}${size.toString(16).padStart(8, "0")}`
}

const form = /^([1-9]\d{0,4})-([0-9a-f-]{36})-([0-9a-f]{32})$/

/** The name of a part while it is counted: such a file has a size, and is not a part yet. */
const counted = ".counted"
const sized = /^([1-9]\d{0,4})-([0-9a-f-]{36})-[0-9a-f]{32}(?:\.counted)?$/

interface PartFile extends ListedPart {
  readonly path: string
  readonly age: string
}

/** The files of all parts, the oldest first. */
const filesIn = (folder: string) =>
  Effect.map(
    attempt(() => readdir(folder)),
    (names) =>
      names
        .flatMap((name): ReadonlyArray<PartFile> => {
          const [, partNumber, age, eTag] = form.exec(name) ?? []
          if (age === undefined || eTag === undefined) return []
          return [{ path: join(folder, name), partNumber: Number(partNumber), age, eTag }]
        })
        .toSorted((a, b) => (a.age < b.age ? -1 : 1))
  )

/** The size of a part, which may become one concurrently. Only a name without the size costs a look at the file. */
const sizeOf = (path: string, age: string): Effect.Effect<number, StorageUnavailableError> => {
  if (age[14] === "8") return Effect.succeed(Number.parseInt(age.slice(-8), 16))
  const size = Effect.map(
    attempt(() => stat(path)),
    ({ size }) => size
  )
  if (!path.endsWith(counted)) return size
  return orOn("ENOENT", () => sizeOf(path.slice(0, -counted.length), age))(size)
}

const newestOf = (files: ReadonlyArray<PartFile>) => new Map(files.map((file) => [file.partNumber, file]))

/** The received parts by number; the newest of each number. */
export const list = Effect.fnUntraced(function* (folder: string) {
  const files = yield* filesIn(folder).pipe(orOn("ENOENT", () => Effect.succeed<ReadonlyArray<PartFile>>([])))
  const newest = newestOf(files)
  const parts = yield* Effect.forEach(
    newest.values(),
    ({ age, eTag, partNumber, path }) =>
      sizeOf(path, age).pipe(
        Effect.map((size): ReadonlyArray<StoredPart> => [{ partNumber, size, eTag }]),
        orOn("ENOENT", () => Effect.succeed([]))
      ),
    { concurrency: 8 }
  )
  return parts.flat().toSorted((a, b) => a.partNumber - b.partNumber)
})

/** The files of these parts. */
export const locate = Effect.fnUntraced(function* (folder: string, parts: ReadonlyArray<ListedPart>) {
  const nameOf = ({ eTag, partNumber }: ListedPart) => `${partNumber}-${eTag}`
  const files = yield* filesIn(folder).pipe(orOn("ENOENT", () => Effect.fail(unknownUpload)))
  const found = new Map(files.map((file) => [nameOf(file), file]))
  // Compared with the files of the folder: a path made of the tag could leave the folder.
  return yield* Effect.forEach(parts, (part) =>
    Effect.fromNullishOr(found.get(nameOf(part))).pipe(Effect.mapError(() => missingPart(part)))
  )
})

/** Fails unless the newest part of each number has the same bytes as the one of these parts. */
export const checkNewest = Effect.fnUntraced(function* (folder: string, parts: ReadonlyArray<ListedPart>) {
  const newest = newestOf(yield* filesIn(folder))
  const replaced = parts.find(({ eTag, partNumber }) => newest.get(partNumber)?.eTag !== eTag)
  if (replaced !== undefined) return yield* missingPart(replaced)
})

/** Whether the folder has parts. */
export const areAny = (folder: string) => Effect.map(filesIn(folder), (files) => files.length > 0)

/** Whether one of these parts, which may be gone by now, was sent again after it. */
export const areReplaced = Effect.fnUntraced(
  function* (folder: string, parts: ReadonlyArray<PartFile>) {
    const ages = new Map(parts.map(({ age, partNumber }) => [partNumber, age]))
    return (yield* filesIn(folder)).some(({ age, partNumber }) => age > (ages.get(partNumber) ?? age))
  },
  orOn("ENOENT", () => Effect.succeed(false))
)

/**
 * The bytes of all parts with other numbers, and of those that are being counted. Of several files with one number the
 * largest counts, because any of them may be the one that stays.
 */
export const bytesOfOthers = Effect.fnUntraced(
  function* (folder: string, partNumber: number) {
    const sizes = new Map<number, number>()
    for (const name of yield* attempt(() => readdir(folder))) {
      const [, number, age] = sized.exec(name) ?? []
      if (age === undefined || Number(number) === partNumber) continue
      const removed = orOn("ENOENT", () => Effect.succeed(0))
      const size = yield* removed(sizeOf(join(folder, name), age))
      sizes.set(Number(number), Math.max(sizes.get(Number(number)) ?? 0, size))
    }
    return [...sizes.values()].reduce((sum, size) => sum + size, 0)
  },
  orOn("ENOENT", () => Effect.succeed(0))
)

/**
 * Makes a flushed file a part, unless `check` fails. The file is in the folder under another name before `check` counts the
 * bytes, so of several parts that end at the same time, in any process, at least the last one counts all of them.
 */
export const publishIf = <E>(path: string, folder: string, part: StoredPart, check: Effect.Effect<void, E>) => {
  const target = newPartFile(folder, part)
  return Effect.acquireUseRelease(
    attempt(() => rename(path, `${target}${counted}`)),
    () => Effect.andThen(check, move(`${target}${counted}`, target)),
    () => Effect.ignore(attempt(() => rm(`${target}${counted}`, { force: true })))
  )
}

/** Removes the files that a newer one of the same number replaces; concurrent calls never remove the newest. */
export const removeReplaced = Effect.fnUntraced(
  function* (folder: string, partNumber: number) {
    const files = yield* filesIn(folder)
    const replaced = files.filter((file) => file.partNumber === partNumber).slice(0, -1)
    yield* Effect.forEach(replaced, ({ path }) => attempt(() => rm(path, { force: true })), { discard: true })
  },
  orOn("ENOENT", () => Effect.void)
)
