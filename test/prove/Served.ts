import { assert } from "@effect/vitest"
import * as Service from "../support/Service.ts"

export type { Answer } from "../support/Service.ts"
type Answer = Service.Answer

/** The service as a process, asked for records. */
export interface Served extends Service.Service {
  readonly ask: Service.Call
  readonly close: () => Promise<void>
}

/** Starts the service with a data folder of its own; the settings say on which database. */
export const start = async (settings: Readonly<Record<string, string>>): Promise<Served> => {
  const service = await Service.start(settings)
  return { ...service, ask: service.call, close: async () => service[Symbol.asyncDispose]() }
}

/** The database is not to be had: that is said, with the time after which to come again. */
export const assertUnavailable = ({ body, headers, status, text }: Answer) => {
  assert.strictEqual(status, 503, text)
  assert.strictEqual(body._tag, "ServiceUnavailableError")
  assert.match(headers.get("retry-after") ?? "", /^\d+$/)
}

/** The longest of them, in milliseconds. */
export const slowest = (answers: ReadonlyArray<Answer>) => Math.max(0, ...answers.map(({ millis }) => millis))

/** Every answer, by its status. */
export const byStatus = (answers: ReadonlyArray<Answer>) => Object.groupBy(answers, ({ status }) => status)
