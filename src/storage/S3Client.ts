import { Duration, Effect, Redacted } from "effect"
import { StorageUnavailableError } from "./Storage.ts"

export interface S3Options {
  /** None means Amazon's own. */
  readonly endpoint?: string
  readonly region: string
  readonly bucket: string
  /** Without a key and its secret, the credentials of the machine are looked for, as every AWS program does. */
  readonly accessKeyId?: string
  readonly secretAccessKey?: Redacted.Redacted
  readonly forcePathStyle: boolean
  /** What the keys of all objects begin with, for a bucket that is shared; a slash at its end is part of it. */
  readonly prefix?: string
  /** Milliseconds; tests do not wait that long. */
  readonly timeouts?: Timeouts
}

interface Timeouts {
  readonly connection: number
  /** From the request to the first byte of the answer, for each attempt. */
  readonly request: number
  /** For all attempts together, and for each wait for the next bytes of an object. */
  readonly total: number
}

const usual: Timeouts = { connection: 1000, request: 10_000, total: 12_000 }

/** More than requests are let in at once, or a few slow downloads would leave no connection for the others. */
const maxSockets = 1000

/** The AWS SDK with limits. It is large, so it is loaded here and not before. */
export const connect = Effect.fnUntraced(function* (options: S3Options) {
  const { accessKeyId, bucket, endpoint, forcePathStyle, region, secretAccessKey, timeouts = usual } = options
  const { S3, UploadPartCommand } = yield* Effect.promise(() => import("@aws-sdk/client-s3"))
  const { getSignedUrl } = yield* Effect.promise(() => import("@aws-sdk/s3-request-presigner"))
  const agent = { keepAlive: true, maxSockets }
  const client = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new S3({
          region,
          forcePathStyle,
          ...(endpoint === undefined ? {} : { endpoint }),
          ...(accessKeyId === undefined || secretAccessKey === undefined
            ? {}
            : { credentials: { accessKeyId, secretAccessKey: Redacted.value(secretAccessKey) } }),
          maxAttempts: 3,
          // A checksum in a signed address is one that no browser sends.
          requestChecksumCalculation: "WHEN_REQUIRED",
          responseChecksumValidation: "WHEN_REQUIRED",
          // Without these, a store that does not answer is waited for for ever.
          requestHandler: {
            connectionTimeout: timeouts.connection,
            requestTimeout: timeouts.request,
            throwOnRequestTimeout: true,
            httpAgent: agent,
            httpsAgent: agent
          }
        })
    ),
    (client) => Effect.sync(() => client.destroy())
  )

  /** Runs a request; what fails is told apart with `isCalled`. */
  const call = <A>(
    run: (client: InstanceType<typeof S3>, options: { abortSignal: AbortSignal }) => Promise<A>,
    total = timeouts.total
  ) =>
    Effect.tryPromise({ try: (abortSignal) => run(client, { abortSignal }), catch: unavailable }).pipe(
      Effect.timeoutOrElse({ duration: Duration.millis(total), orElse: () => Effect.fail(tooSlow) })
    )

  /** The address of a part. No length and no checksum is signed: the sender of the part knows only the address. */
  const partUrl = (part: { Bucket: string; Key: string; UploadId: string; PartNumber: number }, expiresIn: number) =>
    call((client) => getSignedUrl(client, new UploadPartCommand(part), { expiresIn }))

  const prefix = options.prefix ?? ""
  return {
    call,
    partUrl,
    Bucket: bucket,
    prefix,
    /** The key as the bucket knows it. */
    at: (key: string) => prefix + key,
    patience: Duration.millis(timeouts.total),
    /** Joining many parts can take minutes, in which the store sends blanks. Milliseconds. */
    joining: timeouts.total * 50
  }
})

export type Bucket = Effect.Success<ReturnType<typeof connect>>

/** Instead of failing with an error that the store calls so. */
export const orWhen =
  <B, E2>(names: ReadonlyArray<string>, instead: () => Effect.Effect<B, E2>) =>
  <A, E, R>(self: Effect.Effect<A, E | StorageUnavailableError, R>) =>
    Effect.catchIf(
      self,
      (error) => error instanceof StorageUnavailableError && names.includes(nameOf(error.cause)),
      instead
    )

/** An answer that lacks what it is for, as of a proxy that is no object store. */
export const notUnderstood = new StorageUnavailableError({
  message: "The object store gives an answer that is not understood; is the endpoint right?"
})

export const tooSlow = new StorageUnavailableError({ message: "The object store does not answer in time" })

/** An error of the SDK; its message can hold keys and addresses, so only its name is told. */
export const unavailable = (cause: unknown): StorageUnavailableError => {
  const name = nameOf(cause)
  const meaning =
    meanings[name] ?? (/^E[A-Z_]+$/.test(name) ? "The object store cannot be reached" : "The object store fails")
  return new StorageUnavailableError({ message: `${meaning} (${name})`, cause })
}

/** The code of the answer, or of the connection's failure. */
const nameOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "unknown"
  const name = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
  return /^\w{1,64}$/.test(name) ? name : "unknown"
}

const refused = "The object store refuses the credentials, or they may not do this"

const meanings: Readonly<Record<string, string>> = {
  AccessDenied: refused,
  Forbidden: refused,
  InvalidAccessKeyId: refused,
  SignatureDoesNotMatch: refused,
  ExpiredToken: refused,
  CredentialsProviderError: "No credentials for the object store are found",
  NoSuchBucket: "The bucket does not exist",
  NotFound: "The bucket or the object does not exist",
  NoSuchKey: "The object does not exist",
  TimeoutError: tooSlow.message,
  ETIMEDOUT: tooSlow.message,
  SlowDown: "The object store is overloaded",
  ServiceUnavailable: "The object store is overloaded"
}
