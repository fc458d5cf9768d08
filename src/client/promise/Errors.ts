/** The service cannot be reached, or the connection broke. */
interface ConnectionError {
  readonly _tag: "ConnectionError"
  readonly message: string
  readonly url: string
}

/** The answer does not come from the service, but for example from a proxy before it. */
interface UnexpectedResponseError {
  readonly _tag: "UnexpectedResponseError"
  readonly message: string
  readonly url: string
}

/** The signal of the call was aborted. */
interface AbortedError {
  readonly _tag: "AbortedError"
  readonly message: string
}

/** The client does not send a request with an argument such as a uuid that is none. */
interface InvalidArgumentError {
  readonly _tag: "InvalidArgumentError"
  readonly message: string
}

/** The stream or file of an upload cannot be read. */
interface UnreadableSourceError {
  readonly _tag: "UnreadableSourceError"
  readonly message: string
}

/** An error that comes from the client, not from the service. */
export type ClientError =
  | ConnectionError
  | UnexpectedResponseError
  | AbortedError
  | InvalidArgumentError
  | UnreadableSourceError

export interface Members {
  readonly _tag: string
  readonly message: string
}

interface Origin {
  readonly status?: number
  readonly retryAfter?: number
  readonly cause?: unknown
}

/** An error with a `_tag`, and with the other members that the service sends. */
export class WaypostError extends Error {
  static {
    // A bundler renames the class, and a terminal shows its name.
    Object.defineProperty(this, "name", { value: "WaypostError" })
  }

  declare readonly _tag: string
  /** The HTTP status, if there was an answer. */
  declare readonly status?: number
  /** The seconds after which the service asks to repeat the request. */
  declare readonly retryAfter?: number

  constructor(members: Members, { cause, ...origin }: Origin = {}) {
    super(members.message, cause === undefined ? {} : { cause })
    // An error of the service can have a name of its own, such as that of a group.
    Object.assign(this, { name: members._tag }, origin, members)
  }
}

/** An error of the client. */
export const clientError = (members: ClientError, origin?: Origin): WaypostError => new WaypostError(members, origin)

/** The error of bytes that cannot be read. */
export const unreadable = (message: string) => (cause: unknown) =>
  clientError({ _tag: "UnreadableSourceError", message }, { cause })

/** An error with the members of `E`, by its `_tag`. */
export type ErrorOf<E> = WaypostError & (E | ClientError)
