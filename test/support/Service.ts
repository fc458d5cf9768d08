import * as ApiKeySecret from "../../src/domain/keys/ApiKeySecret.ts"
import * as Process from "./Process.ts"

/** The service as a process on a data folder, with a client for it. */
export interface Service extends Process.Service {
  readonly pid: number
  readonly folder: string
  /** A key with every permission. */
  readonly key: string
  readonly call: Call
  /** Creates a record and returns its uuid. */
  readonly create: (path: string, body: unknown) => Promise<string>
}

/** Sends a request and reads the response. A body that is not a string is sent as JSON. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Answer>

/** A response with its body, parsed when it is JSON. */
export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests read members, and an assertion reports a missing one
  readonly body: any
}

export interface Answer extends Called {
  /** When the request was sent, by `performance.now()`; `millis` is the duration. */
  readonly at: number
  readonly millis: number
}

/** The key of services that `start` starts. */
export const key = ApiKeySecret.format(new Uint8Array(16).fill(11), new Uint8Array(32).fill(13)).key

export const headers = { authorization: key, "content-type": "application/json" }

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A client for the service at a URL. It has a connection for each request: on a busy machine an idle one may close just before its next
 * request.
 */
export const callTo =
  (url: string, as = key): Call =>
  async (method, path, body, more) => {
    const at = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, connection: "close", authorization: as, ...more },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const millis = performance.now() - at
    return { status: response.status, headers: response.headers, text, body: parse(text), at, millis }
  }

/** Starts the service on the given folder, or on a new one that is removed on disposal. */
export const start = async (
  settings: Readonly<Record<string, string>> = {},
  { folder: given }: { readonly folder?: string } = {}
): Promise<Service> => {
  await using stack = new AsyncDisposableStack()
  const isElsewhere = settings["DATABASE_URL"] !== undefined
  const { folder, remove } =
    given !== undefined
      ? { folder: given, remove: () => undefined }
      : isElsewhere
        ? Process.dataFolder()
        : Process.migratedFolder()
  stack.defer(remove)
  const service = stack.use(await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key, ...settings }))
  const call = callTo(service.url)
  const disposal = stack.move()
  return {
    ...service,
    pid: service.process.pid!,
    folder,
    key,
    call,
    create: async (path, body) => {
      const answer = await call("POST", path, body)
      if (answer.status !== 201) throw new Error(`${path} answered with ${answer.status}: ${answer.text}`)
      return answer.body.data.uuid
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}
