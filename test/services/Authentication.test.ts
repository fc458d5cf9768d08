import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { ApiKeyId } from "../../src/domain/keys/ApiKey.ts"
import { makeUseNotes } from "../../src/services/Authentication.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const heapMebibytes = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

it.effect("the notes of when keys were used are forgotten a minute later, and until then note each key once", () =>
  Effect.gen(function* () {
    const keys = 100_000
    let touched = 0
    const noteUse = yield* makeUseNotes({ touch: (uuids) => Effect.sync(() => void (touched += uuids.length)) })
    const before = heapMebibytes()
    for (let round = 0; round < 2; round++) {
      for (let key = 0; key < keys; key++)
        noteUse(ApiKeyId.make(`0198d9e4-7d0c-7b1e-8b54-${String(key).padStart(12, "0")}`), round)
      yield* TestClock.adjust("1 second")
    }
    assert.strictEqual(touched, keys)
    assert.isAbove(heapMebibytes() - before, 5)
    yield* TestClock.adjust("1 minute")
    assert.isBelow(heapMebibytes() - before, 2.5)
  }).pipe(Effect.scoped)
)
