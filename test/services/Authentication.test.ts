import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeyId } from "../../src/domain/keys/ApiKey.ts"
import { makeUseNotes } from "../../src/services/Authentication.ts"
import { unknownUuid } from "../support/requests/Requests.ts"

it.effect("a use of a key is noted once a minute, and its note is forgotten then", () =>
  Effect.gen(function* () {
    const key = ApiKeyId.make(unknownUuid)
    const noted = new Map<ApiKeyId, number>()
    let touched = 0
    const noteUse = yield* makeUseNotes({ touch: () => Effect.sync(() => void touched++) }, noted)
    for (const now of [0, 1]) {
      noteUse(key, now)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([touched, noted.size], [1, 1])
    }
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(noted.size, 0)
    noteUse(key, 62_000)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(touched, 2)
  }).pipe(Effect.scoped)
)
