import { Context, type Effect, type Option, Schema, type Scope, type Stream } from "effect"

/** The store cannot be reached, is full or broken; a later attempt may succeed. */
export class StorageUnavailableError extends Schema.TaggedError<StorageUnavailableError>()("StorageUnavailableError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  /** Names the place in a failure, whose cause is most often a wrong setting. */
  static at =
    (place: string) =>
    ({ cause, message }: StorageUnavailableError) =>
      new StorageUnavailableError({ message: `${message}: ${place}`, ...(cause === undefined ? {} : { cause }) })
}

/** An object cannot be copied to this machine, most often because its disk is full; the store is well. */
export class CopyFailedError extends Schema.TaggedError<CopyFailedError>()("CopyFailedError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The parts of an upload do not make a file: one is missing or has another entity tag. */
export class InvalidPartsError extends Schema.TaggedError<InvalidPartsError>()("InvalidPartsError", {
  message: Schema.String
}) {}

/** A multipart upload of the store. */
export interface MultipartUpload {
  /** The key of the object. */
  readonly key: string
  /** The id that the store gave to the upload. */
  readonly id: string
}

/** A received part; the entity tag is without quotes. */
export interface StoredPart {
  readonly partNumber: number
  readonly size: number
  readonly eTag: string
}

/** An object of the store. */
export interface StoredObject {
  readonly key: string
  readonly size: number
  /** Milliseconds since 1970, by the clock of the store. */
  readonly modifiedAt: number
}

/** `length` bytes of an object from `offset` on, or all that follow; fewer or none at its end. */
export interface Range {
  readonly offset: number
  readonly length?: number
}

type Stored<A> = Effect.Effect<A, StorageUnavailableError>

/**
 * The object store. The service makes the keys (`ab/cd/<uuid>`), never a client; an object is written once and never
 * changes. Local files and S3-compatible stores implement this and pass the same tests.
 */
export class Storage extends Context.Service<
  Storage,
  {
    /** Begins a multipart upload. */
    begin(key: string, contentType: string): Stored<MultipartUpload>
    /** A URL that takes the bytes of a part with a PUT and answers with its `ETag`; `maxSize` in bytes. */
    partUrl(
      upload: MultipartUpload,
      part: { readonly partNumber: number; readonly maxSize: number; readonly expiresInSeconds: number }
    ): Stored<string>
    /** The origin of the URLs of parts, which a page that uploads has to allow. */
    readonly partOrigin: Stored<string>
    /** The received parts, by number; none if the store does not have the upload. */
    parts(upload: MultipartUpload): Stored<ReadonlyArray<StoredPart>>
    /** Joins the parts, listed by number, into the object, durably; idempotent. */
    complete(
      upload: MultipartUpload,
      parts: ReadonlyArray<Pick<StoredPart, "partNumber" | "eTag">>
    ): Effect.Effect<void, StorageUnavailableError | InvalidPartsError>
    /** Removes an upload and its parts, if the store has it. */
    abort(upload: MultipartUpload): Stored<void>
    /** Uploads that are neither completed nor aborted, with the time they began. */
    readonly uploads: Stream.Stream<MultipartUpload & { readonly beganAt: number }, StorageUnavailableError>

    /** Writes an object, durably. */
    write(key: string, bytes: Uint8Array, contentType: string): Stored<void>
    /** Writes a file of this machine as an object, durably. */
    writeFile(key: string, path: string, contentType: string): Stored<void>
    /** The size of an object in bytes, if it exists. */
    size(key: string): Stored<Option.Option<number>>
    /** The bytes of an object; the stream fails if it cannot deliver all of them. */
    read(key: string, range?: Range): Stream.Stream<Uint8Array, StorageUnavailableError>
    /** The object as a file of this machine, for programs that read files; the scope removes a copy. */
    localFile(key: string): Effect.Effect<string, StorageUnavailableError | CopyFailedError, Scope.Scope>
    /** Removes an object, if it exists. */
    remove(key: string): Stored<void>
    /** All objects, in no particular order. */
    readonly objects: Stream.Stream<StoredObject, StorageUnavailableError>
    /** Fails unless the store answers. */
    readonly check: Stored<void>
  }
>()("waypost/storage/Storage") {}
