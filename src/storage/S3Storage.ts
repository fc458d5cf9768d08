import type { GetObjectCommandOutput } from "@aws-sdk/client-s3"
import { Effect, Layer, Option, Stream } from "effect"
import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { append, attempt, temporaryFile } from "./Durable.ts"
import { isObjectKey, objectKey } from "./ObjectKey.ts"
import { isRunning } from "./Processes.ts"
import { bytesOf } from "./S3Body.ts"
import { type Bucket, connect, notUnderstood, orWhen, type S3Options } from "./S3Client.ts"
import * as S3Files from "./S3Files.ts"
import { pages } from "./S3Pages.ts"
import * as S3Uploads from "./S3Uploads.ts"
import { CopyFailedError, type Range, Storage, type StorageUnavailableError, type StoredObject } from "./Storage.ts"

/** Stores objects in a bucket of Amazon S3 or of a compatible store. */
export const layer = (options: S3Options): Layer.Layer<Storage> =>
  Layer.effect(
    Storage,
    Effect.map(connect(options), (bucket) => {
      const objects = objectsIn(bucket)
      const uploads = S3Uploads.make(bucket, objects.size)
      return Storage.of({ ...objects, ...uploads, writeFile: S3Files.writer(bucket, objects.write, uploads) })
    }).pipe(Effect.tap(removeOldCopies))
  )

/** The folders of copies on this machine, with the pid of the process that made each. */
const copyFolder = { prefix: `waypost-object-${process.pid}-`, form: /^waypost-object-(\d+)-/ }

/** Whether the process that made a folder has ended. In a container, the next process often has its pid. */
const isLeft = async (folder: string, pid: number) =>
  pid === process.pid ? (await stat(folder)).mtimeMs < performance.timeOrigin : !isRunning(pid)

/** Removes the copies of processes that were killed. */
const removeOldCopies = Effect.gen(function* () {
  for (const name of yield* attempt(() => readdir(tmpdir()))) {
    const folder = join(tmpdir(), name)
    const pid = Number(copyFolder.form.exec(name)?.[1])
    if (Number.isNaN(pid)) continue
    const remove = async () =>
      void ((await isLeft(folder, pid)) && (await rm(folder, { recursive: true, force: true })))
    yield* Effect.ignore(attempt(remove))
  }
}).pipe(Effect.ignore)

/** A file operation that makes a copy. Its failure is no failure of the store. */
const copying = <A, R>(operation: Effect.Effect<A, StorageUnavailableError, R>) =>
  Effect.mapError(operation, ({ cause }) => {
    const message = `The file cannot be copied to the folder of temporary files (TMPDIR): ${tmpdir()}`
    return new CopyFailedError({ message, ...(cause === undefined ? {} : { cause }) })
  })

const objectsIn = ({ at, Bucket, call, patience, prefix }: Bucket) => {
  const of = (key: string) => Effect.map(objectKey(key), (key) => ({ Bucket, Key: at(key) }))
  const check = Effect.asVoid(call((s3, options) => s3.headBucket({ Bucket }, options)))

  const write = Effect.fn("S3Storage.write")(function* (key: string, bytes: Uint8Array, contentType: string) {
    const object = yield* of(key)
    const { ETag } = yield* call((s3, options) =>
      s3.putObject({ ...object, Body: bytes, ContentType: contentType }, options)
    )
    if (ETag === undefined) return yield* notUnderstood
  })

  const size = Effect.fn("S3Storage.size")(function* (key: string) {
    const object = yield* of(key)
    const found = yield* call((s3, options) => s3.headObject(object, options)).pipe(
      Effect.asSome,
      // A missing bucket has the same status, and must not pass for missing objects.
      orWhen(["NotFound"], () => Effect.as(check, Option.none()))
    )
    if (Option.isNone(found)) return Option.none<number>()
    const { ContentLength, ETag } = found.value
    return ContentLength === undefined || ETag === undefined ? yield* notUnderstood : Option.some(ContentLength)
  })

  const read = (key: string, { length, offset }: Range = { offset: 0 }) => {
    if (length === 0) return Stream.empty
    const last = length === undefined ? "" : offset + length - 1
    const ranged = offset > 0 || length !== undefined
    return Stream.unwrap(
      Effect.gen(function* () {
        const object = { ...(yield* of(key)), ...(ranged ? { Range: `bytes=${offset}-${last}` } : {}) }
        const answer = yield* Effect.acquireRelease(
          call((s3, options) => s3.getObject(object, options)),
          ({ Body }) => Effect.sync(() => Body instanceof Readable && Body.destroy()),
          { interruptible: true }
        )
        const { Body, ContentLength, ETag } = answer
        if (!(Body instanceof Readable) || ContentLength === undefined || ETag === undefined)
          return yield* notUnderstood
        if (ranged && !isRange(answer, offset, length)) return yield* notUnderstood
        return bytesOf(Body, ContentLength, patience)
      }).pipe(orWhen(["InvalidRange"], () => Effect.succeed(Stream.empty)))
    )
  }

  const localFile = Effect.fn("S3Storage.localFile")(function* (key: string) {
    const folder = yield* Effect.acquireRelease(
      copying(attempt(() => mkdtemp(join(tmpdir(), copyFolder.prefix)))),
      (folder) => Effect.ignore(attempt(() => rm(folder, { recursive: true, force: true })))
    )
    const file = yield* copying(temporaryFile(folder))
    yield* Stream.runForEach(read(key), (chunk) => copying(append(file, chunk)))
    return file.path
  })

  const remove = Effect.fn("S3Storage.remove")(function* (key: string) {
    const object = yield* of(key)
    yield* call((s3, options) => s3.deleteObject(object, options))
  })

  const objects = pages<StoredObject, string | undefined>(
    undefined,
    (token) =>
      Effect.map(
        call((s3, options) =>
          s3.listObjectsV2(
            { Bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) },
            options
          )
        ),
        ({ Contents = [], IsTruncated, NextContinuationToken }) => ({
          items: Contents.map(({ Key, LastModified, Size }): StoredObject | undefined =>
            Key === undefined || LastModified === undefined || Size === undefined
              ? undefined
              : { key: Key.slice(prefix.length), size: Size, modifiedAt: LastModified.getTime() }
          ),
          truncated: IsTruncated,
          next: NextContinuationToken
        })
      )
    // Objects of others in the bucket must not be listed, because listed objects may be removed.
  ).pipe(Stream.filter(({ key }) => isObjectKey(key)))

  return { write, size, read, localFile, remove, objects, check }
}

/** Whether the response has the requested range. A store may ignore the range, or send less, and answer with a success. */
const isRange = (
  { ContentLength, ContentRange }: Pick<GetObjectCommandOutput, "ContentLength" | "ContentRange">,
  offset: number,
  length: number | undefined
) => {
  const [, first, last, size] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? "") ?? []).map(Number)
  if (first === undefined || last === undefined || size === undefined) return false
  const end = Math.min(size, length === undefined ? size : offset + length)
  return first === offset && last === end - 1 && ContentLength === end - offset
}
