import { Context, type Effect, type Option, Schema, type Scope, type Stream } from "effect"

/** The store cannot be reached, is full or broken; trying again later may help. */
export class StorageUnavailableError extends Schema.TaggedError<StorageUnavailableError>()("StorageUnavailableError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The parts of an upload do not make a file: one is missing, or is not the one that was sent. */
export class InvalidPartsError extends Schema.TaggedError<InvalidPartsError>()("InvalidPartsError", {
  message: Schema.String
}) {}

/** An upload in parts, as the store knows it. */
export interface MultipartUpload {
  /** Where the object will be. */
  readonly key: string
  /** The store's own name of the upload. */
  readonly id: string
}

/** A part that has arrived; the entity tag is without quotes. */
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

/** The bytes of an object from `offset` on, `length` of them or all that follow; fewer, or none, where it ends. */
export interface Range {
  readonly offset: number
  readonly length?: number
}

type Stored<A> = Effect.Effect<A, StorageUnavailableError>

/**
 * Where the bytes are. Keys are made by the service (`ab/cd/<uuid>`), never by a client; an object is written once and
 * never changed. Local files and any S3-compatible store implement this and pass one suite of tests.
 */
export class Storage extends Context.Service<
  Storage,
  {
    /** Begins an upload in parts. */
    begin(key: string, contentType: string): Stored<MultipartUpload>
    /** An address that takes the bytes of a part with a plain PUT and answers with its `ETag`; `maxSize` in bytes. */
    partUrl(
      upload: MultipartUpload,
      part: { readonly partNumber: number; readonly maxSize: number; readonly expiresInSeconds: number }
    ): Stored<string>
    /** The parts that have arrived, by number; none when the store no longer knows the upload. */
    parts(upload: MultipartUpload): Stored<ReadonlyArray<StoredPart>>
    /** Joins the parts, listed by number, into the object, durably; repeating it after a success does no harm. */
    complete(
      upload: MultipartUpload,
      parts: ReadonlyArray<Pick<StoredPart, "partNumber" | "eTag">>
    ): Effect.Effect<void, StorageUnavailableError | InvalidPartsError>
    /** Throws away the parts of an upload; nothing when it is not known (any more). */
    abort(upload: MultipartUpload): Stored<void>
    /** Uploads that were begun and neither completed nor aborted, with the time they began. */
    readonly uploads: Stream.Stream<MultipartUpload & { readonly beganAt: number }, StorageUnavailableError>

    /** Writes a whole object, durably; for what the service makes itself. */
    write(key: string, bytes: Uint8Array, contentType: string): Stored<void>
    /** Writes a file of this machine as an object, durably; for files that come from elsewhere than an upload. */
    writeFile(key: string, path: string, contentType: string): Stored<void>
    /** The size of an object in bytes, if it is there. */
    size(key: string): Stored<Option.Option<number>>
    /** The bytes of an object. A stream that breaks off fails; it never ends early. */
    read(key: string, range?: Range): Stream.Stream<Uint8Array, StorageUnavailableError>
    /** The object as a file on this machine, for programs that read files; gone (when it was a copy) with the scope. */
    localFile(key: string): Effect.Effect<string, StorageUnavailableError, Scope.Scope>
    /** Removes an object; nothing when it is not there. */
    remove(key: string): Stored<void>
    /** All objects, in no particular order. */
    readonly objects: Stream.Stream<StoredObject, StorageUnavailableError>
    /** Whether the store answers. */
    readonly check: Stored<void>
  }
>()("waypost/storage/Storage") {}
