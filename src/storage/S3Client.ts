import { Duration, Effect, Predicate, Redacted } from "effect"
import { StorageUnavailableError } from "./Storage.ts"

export interface S3Options {
  /** Amazon S3 if absent. */
  readonly endpoint?: string
  readonly region: string
  readonly bucket: string
  /** Without a key and its secret, the AWS SDK finds the credentials of the machine. */
  readonly accessKeyId?: string
  readonly secretAccessKey?: Redacted.Redacted
  readonly forcePathStyle: boolean
  /** The prefix of all keys, for a shared bucket; a slash at its end is part of it. */
  readonly prefix?: string
  /** Milliseconds. */
  readonly timeouts?: Timeouts
}

interface Timeouts {
  readonly connection: number
  /** From the request to the first byte of the answer, for each attempt. */
  readonly request: number
  /** For all attempts together, and for each wait for the next bytes of an object. */
  readonly total: number
}

const defaultTimeouts: Timeouts = { connection: 1000, request: 10_000, total: 12_000 }

/**
 * More than the requests in flight and those for files (512 each by default) and the downloads (256) of a process, so that
 * slow downloads leave connections for others.
 */
const maxSockets = 1500

/** The AWS SDK with time limits. It is large, so it is only loaded if it is used. */
export const connect = Effect.fnUntraced(function* (options: S3Options) {
  const { accessKeyId, bucket, endpoint, forcePathStyle, region, secretAccessKey, timeouts = defaultTimeouts } = options
  const { S3, UploadPartCommand } = yield* Effect.promise(() => import("@aws-sdk/client-s3"))
  const { getSignedUrl } = yield* Effect.promise(() => import("@aws-sdk/s3-request-presigner"))
  const place = `bucket ${bucket} at ${endpoint === undefined ? `AWS, region ${region}` : new URL(endpoint).origin}`
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
          // A browser could not send a checksum that a signed URL requires.
          requestChecksumCalculation: "WHEN_REQUIRED",
          responseChecksumValidation: "WHEN_REQUIRED",
          // Without these, a request waits for an unresponsive store for ever.
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

  /** Runs a request within the time limit; `orWhen` recovers from errors by name. */
  const call = <A>(
    run: (client: InstanceType<typeof S3>, options: { abortSignal: AbortSignal }) => Promise<A>,
    total = timeouts.total
  ) =>
    Effect.tryPromise({ try: (abortSignal) => run(client, { abortSignal }), catch: unavailable }).pipe(
      Effect.timeoutOrElse({ duration: Duration.millis(total), orElse: () => Effect.fail(tooSlow) }),
      Effect.mapError(StorageUnavailableError.at(place))
    )

  /** The URL of a part. It signs no length and no checksum, which the sender of the part does not know. */
  const partUrl = (part: { Bucket: string; Key: string; UploadId: string; PartNumber: number }, expiresIn: number) =>
    call((client) => getSignedUrl(client, new UploadPartCommand(part), { expiresIn }))

  const prefix = options.prefix ?? ""
  return {
    call,
    partUrl,
    Bucket: bucket,
    prefix,
    /** The key in the bucket. */
    at: (key: string) => prefix + key,
    patience: Duration.millis(timeouts.total),
    /** Joining many parts can take minutes, while the store sends blanks. Milliseconds. */
    joining: timeouts.total * 50
  }
})

export type Bucket = Effect.Success<ReturnType<typeof connect>>

/** Recovers from errors of these names. */
export const orWhen =
  <B, E2>(names: ReadonlyArray<string>, instead: () => Effect.Effect<B, E2>) =>
  <A, E, R>(self: Effect.Effect<A, E | StorageUnavailableError, R>) =>
    Effect.catchIf(
      self,
      (error) => error instanceof StorageUnavailableError && names.includes(nameOf(error.cause)),
      instead
    )

/** A response without the expected members, as of a proxy that is no object store. */
export const notUnderstood = new StorageUnavailableError({
  message: "The response of the object store is not valid; check the endpoint"
})

export const tooSlow = new StorageUnavailableError({ message: "The object store did not answer in time" })

/** An error of the SDK. Only its name is shown, because its message can contain keys and URLs. */
export const unavailable = (cause: unknown): StorageUnavailableError => {
  const name = nameOf(cause)
  const meaning =
    meanings[name] ?? (/^E[A-Z_]+$/.test(name) ? "The object store cannot be reached" : "The object store failed")
  return new StorageUnavailableError({ message: `${meaning} (${name})`, cause })
}

/** The status of an answer without a code: one to HEAD has no body, in which the code would be. */
const statusOf = (cause: Error) =>
  cause.name === "Unknown" && Predicate.hasProperty(cause, "$metadata") && Predicate.isObject(cause.$metadata)
    ? cause.$metadata["httpStatusCode"]
    : undefined

/** The code of the answer, or its status, or the code of the connection's failure. */
const nameOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "unknown"
  const status = statusOf(cause)
  if (Predicate.isNumber(status)) return String(status)
  const name = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
  return /^\w{1,64}$/.test(name) ? name : "unknown"
}

const denied = "The object store rejects the credentials, or they lack a permission"

const elsewhere = "The bucket is in another region than S3_REGION"

const meanings: Readonly<Record<string, string>> = {
  AccessDenied: denied,
  403: denied,
  InvalidAccessKeyId: denied,
  SignatureDoesNotMatch: denied,
  ExpiredToken: denied,
  PermanentRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
  301: elsewhere,
  // Amazon S3 answers this also where the region of the signature is another one.
  400: "The object store rejects the request: S3_REGION is wrong, or the credentials have expired",
  CredentialsProviderError: "No credentials for the object store were found",
  NoSuchBucket: "The bucket does not exist",
  NotFound: "The bucket or the object does not exist",
  NoSuchKey: "The object does not exist",
  TimeoutError: tooSlow.message,
  ETIMEDOUT: tooSlow.message,
  SlowDown: "The object store is overloaded",
  ServiceUnavailable: "The object store is overloaded"
}
