import { assert } from "@effect/vitest"
import type { Answer } from "../support/Service.ts"

/** The response is a 503 in the envelope with `Retry-After`. */
export const assertUnavailable = ({ body, headers, status, text }: Answer) => {
  assert.strictEqual(status, 503, text)
  assert.strictEqual(body._tag, "ServiceUnavailableError")
  assert.match(headers.get("retry-after") ?? "", /^\d+$/)
}

/** The longest response time in milliseconds. */
export const slowest = (answers: ReadonlyArray<Answer>) => Math.max(0, ...answers.map(({ millis }) => millis))

/** The responses by status. */
export const byStatus = (answers: ReadonlyArray<Answer>) => Object.groupBy(answers, ({ status }) => status)
