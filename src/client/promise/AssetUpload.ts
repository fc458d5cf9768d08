import { Effect, Option } from "effect"
import * as Multipart from "../Multipart.ts"
import { type Call, type CallOptions, callSite, start } from "./Call.ts"
import { retried } from "../Retries.ts"
import { failures, type Fetch, send, shownUrl } from "./Http.ts"
import { clientError, unreadable, type WaypostError } from "./Errors.ts"
import type { Operations } from "./Types.ts"

/** Bytes to upload. A stream is read into memory first, because the service needs its size; a file is read as it is sent. */
type Source = Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | ArrayBuffer | Uint8Array<ArrayBuffer>

/** How many bytes have been sent. */
interface UploadProgress {
  readonly sent: number
  readonly total: number
}

type AssetCreate = Parameters<Operations["assets"]["create"]>[0]
type UploadInit = Parameters<Operations["uploads"]["initialize"]>[0]

/** The members of the new asset, and how its file is sent. */
export interface UploadOptions extends Omit<AssetCreate, "fileUuid">, Pick<CallOptions, "signal"> {
  /** The default is the name of the file. */
  readonly fileName?: string
  /** The default is the type of the file; the service looks at the bytes as well. */
  readonly contentType?: string
  /** Is called after every part. */
  readonly onProgress?: (progress: UploadProgress) => void
  /** Receives the uuid of the upload: with it as `resume`, a later call sends only what is missing. */
  readonly onStart?: (uploadUuid: string) => void
  /** The uuid of an upload of the same bytes that was interrupted within the last day. */
  readonly resume?: string
  /** Parts sent concurrently; the default is 4. */
  readonly concurrency?: number
}

type FailureOf<C> = C extends Call<unknown, infer E> ? E : never
type Uploaded = Call<
  { readonly uuid: string; readonly fileUuid: string },
  FailureOf<
    ReturnType<Operations["uploads"]["initialize" | "complete" | "renewParts"] | Operations["assets"]["create"]>
  >
>

/** Uploads a file in parts and creates its asset. */
export interface Upload {
  (file: File, options?: UploadOptions): Uploaded
  (source: Source, options: UploadOptions & { readonly fileName: string }): Uploaded
}

/** Reads an iterable, which only Node takes as the body of a response: browsers take it as the text `[object AsyncGenerator]`. */
const collect = async (source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Blob> => {
  const parts: Array<Blob> = []
  for await (const chunk of source as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    if (signal.aborted) break
    parts.push(new Blob([chunk]))
  }
  return new Blob(parts)
}

const isIterable = (source: Exclude<Source, Blob>): source is AsyncIterable<Uint8Array> =>
  Symbol.asyncIterator in source && !(source instanceof ReadableStream)

/** A stream that ends when the call is aborted, and cancels its source: a caller cannot cancel a stream that is read. */
const abortable = (stream: ReadableStream<Uint8Array>, signal: AbortSignal) =>
  stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>(), { signal })

const read = (source: Exclude<Source, Blob>, signal: AbortSignal): Promise<Blob> => {
  if (isIterable(source)) return collect(source, signal)
  return new Response(source instanceof ReadableStream ? abortable(source, signal) : source).blob()
}

const bytesOf = (source: Source): Effect.Effect<Blob, WaypostError> =>
  source instanceof Blob
    ? Effect.succeed(source)
    : Effect.tryPromise({
        try: (signal) => read(source, signal),
        catch: unreadable("The stream cannot be read")
      })

/** A call as an effect; its error is one of the client. */
const effectOf = <A, E extends WaypostError>(
  call: (signal: AbortSignal) => Call<A, E>
): Effect.Effect<A, WaypostError> =>
  Effect.flatMap(
    Effect.promise((signal) => call(signal).result()),
    ({ data, error }) => (error === undefined ? Effect.succeed(data as A) : Effect.fail(error))
  )

/** Sends a part; the storage may be another server, which gets no key. */
const put = (fetch: Fetch) => (url: string, part: Blob) =>
  Effect.flatMap(send(fetch, { method: "PUT", url, headers: {}, body: part }), ({ headers, status }) => {
    const eTag = headers.get("etag")
    const message = `${new URL(url).origin} accepted a part and returned no ETag; its CORS rules must expose this header`
    return eTag === null
      ? Effect.fail(clientError({ _tag: "UnexpectedResponseError", message, url: shownUrl(url) }, { status }))
      : Effect.succeed(eTag)
  })

/** The `upload` method of assets. */
export const make = ({ assets, uploads }: Pick<Operations, "assets" | "uploads">, fetch: Fetch): Upload => {
  const multipart = Multipart.make<string, string, WaypostError>({
    initialize: (init) => effectOf((signal) => uploads.initialize(init, { signal })),
    get: (uuid) => effectOf((signal) => uploads.get(uuid, { signal })),
    renewParts: (uuid, partNumbers) =>
      Effect.map(
        // A POST without a key, which only signs addresses: those of the last attempt count.
        retried(
          effectOf((signal) => uploads.renewParts(uuid, { partNumbers }, { signal })),
          failures
        ),
        ({ parts }) => parts
      ),
    complete: (uuid, parts) =>
      Effect.map(
        effectOf((signal) => uploads.complete({ uuid, parts }, { signal })),
        ({ fileUuid }) => fileUuid
      ),
    put: put(fetch),
    isExpired: ({ status }) => status === 403,
    isGone: ({ _tag }) => _tag === "FileNotFoundError"
  })

  const upload = Effect.fnUntraced(function* (source: Source, options: UploadOptions) {
    const { concurrency = 4, contentType, fileName, onProgress, onStart, resume, signal: _, ...asset } = options
    const bytes = yield* bytesOf(source)
    let sent = 0
    const onSent = (count: number) => {
      sent += count
      onProgress?.({ sent, total: bytes.size })
    }
    const content: Multipart.Content = { bytes, concurrency, onSent, onFound: onSent }
    const init: UploadInit = {
      fileName: fileName ?? (source instanceof File ? source.name : ""),
      fileSize: bytes.size,
      contentType: contentType ?? (bytes.type === "" ? null : bytes.type)
    }
    const begin = Effect.flatMap(multipart.begin(init), (begun) => {
      onStart?.(begun.uuid)
      return multipart.finish(begun, begun.parts, [], content)
    })
    const resumed = resume === undefined ? Option.none() : yield* multipart.resume(resume, content)
    const fileUuid = Option.isSome(resumed) ? resumed.value : yield* begin
    const create = (idempotencyKey?: string) =>
      effectOf((signal) => assets.create({ ...asset, fileUuid }, { signal, idempotencyKey }))
    // An earlier call may have created the asset and lost the answer. A kept rejection may be outdated, so it is asked again.
    const created =
      resume === undefined
        ? create(fileUuid)
        : Effect.catchIf(
            create(fileUuid),
            ({ status }) => status === 400 || status === 422,
            () => create()
          )
    const { uuid } = yield* created
    return { data: { uuid, fileUuid }, etag: undefined }
  })

  return (source: Source, options: UploadOptions = {}) =>
    start(upload(source, options), callSite(), options.signal) as Uploaded
}
