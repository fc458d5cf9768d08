import * as ApiKeySecret from "../../src/domain/keys/ApiKeySecret.ts"
import * as Process from "./Process.ts"

/** The service as a process on a data folder, and how it is asked. */
export interface Service extends Process.Service {
  readonly pid: number
  readonly folder: string
  /** A key that opens everything. */
  readonly key: string
  readonly call: Call
  /** Creates a record and gives its uuid. */
  readonly create: (path: string, body: unknown) => Promise<string>
}

/** Sends a request, a body that is no text as JSON; what came back, its body read. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Answer>

/** What came back. */
export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside, and an assertion tells what is missing
  readonly body: any
}

export interface Answer extends Called {
  /** When it was asked, as `performance.now()` tells it, and how long it took. */
  readonly at: number
  readonly millis: number
}

/** The key that a service knows which this file starts. */
export const key = ApiKeySecret.format(new Uint8Array(16).fill(11), new Uint8Array(32).fill(13)).key

export const headers = { authorization: key, "content-type": "application/json" }

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Asks the service at an address, with another key if one is given. */
export const callTo =
  (url: string, as = key): Call =>
  async (method, path, body, more) => {
    const at = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, authorization: as, ...more },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const millis = performance.now() - at
    return { status: response.status, headers: response.headers, text, body: parse(text), at, millis }
  }

/** Starts the service, on a folder of its own unless one is given; its own goes when it is disposed of. */
export const start = async (
  settings: Readonly<Record<string, string>> = {},
  { folder: given }: { readonly folder?: string } = {}
): Promise<Service> => {
  await using stack = new AsyncDisposableStack()
  const { folder, remove } = given === undefined ? Process.dataFolder() : { folder: given, remove: () => undefined }
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
