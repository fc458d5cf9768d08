import { assert } from "@effect/vitest"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as Process from "../support/Process.ts"

/** One request and its answer. */
export interface Answer {
  readonly status: number
  /** Of `performance.now()`, when it was asked and how long it took. */
  readonly at: number
  readonly millis: number
  readonly retryAfter: string | null
  readonly etag: string | null
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside, and an assertion tells what is missing
  readonly body: any
}

/** The service as a process, and how it is asked. */
export interface Served extends Process.Service {
  readonly folder: string
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  /** Creates a record and gives its uuid. */
  readonly create: (path: string, body: unknown) => Promise<string>
  /** Ends it and removes its data folder. */
  readonly close: () => Promise<void>
}

const key = ApiKeySecret.format(new Uint8Array(16).fill(5), new Uint8Array(32).fill(8)).key

/** Starts the service with a data folder of its own; the settings say on which database. */
export const start = async (settings: Readonly<Record<string, string>>): Promise<Served> => {
  const { folder, remove } = Process.dataFolder()
  const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key, ...settings })
  const ask: Served["ask"] = async (method, path, body, headers) => {
    const at = performance.now()
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: key, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return {
      status: response.status,
      at,
      millis: performance.now() - at,
      retryAfter: response.headers.get("retry-after"),
      etag: response.headers.get("etag"),
      body: text === "" ? undefined : JSON.parse(text)
    }
  }
  return {
    ...service,
    folder,
    ask,
    create: async (path, body) => {
      const answer = await ask("POST", path, body)
      assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
      return answer.body.data.uuid
    },
    close: async () => {
      service.process.kill("SIGTERM")
      await service.exited
      remove()
    }
  }
}

/** The database is not to be had: that is said, with the time after which to come again. */
export const assertUnavailable = ({ body, retryAfter, status }: Answer) => {
  assert.strictEqual(status, 503, JSON.stringify(body))
  assert.strictEqual(body._tag, "ServiceUnavailableError")
  assert.match(retryAfter ?? "", /^\d+$/)
}

/** The longest of them, in milliseconds. */
export const slowest = (answers: ReadonlyArray<Answer>) => Math.max(0, ...answers.map(({ millis }) => millis))

/** Every answer, by its status. */
export const byStatus = (answers: ReadonlyArray<Answer>) => Object.groupBy(answers, ({ status }) => status)
