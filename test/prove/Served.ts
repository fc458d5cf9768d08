import { assert } from "@effect/vitest"
import type { Answer } from "../support/Service.ts"

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
