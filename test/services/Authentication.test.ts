import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeyId } from "../../src/domain/keys/ApiKey.ts"
import * as ApiKeySecret from "../../src/domain/keys/ApiKeySecret.ts"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { hashOf, make, makeUseNotes } from "../../src/services/Authentication.ts"
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

it.effect("the first request of a key does not wait for the lookup of another client that asks for its id", () =>
  Effect.gen(function* () {
    const uuid = ApiKeyId.make(unknownUuid)
    const [right, wrong] = [1, 2].map((byte) => ApiKeySecret.format(new Uint8Array(16), new Uint8Array(32).fill(byte)))
    const stored = { uuid, secretHash: hashOf(right!.secret), revoked: false, expired: false }
    const asked: Array<string> = []
    const { authenticate } = yield* make({
      findById: () => Effect.succeed(Option.some(stored)),
      findNewById: () =>
        Effect.flatMap(CurrentShare, ({ id }) => {
          asked.push(id)
          return id === "flood" ? Effect.never : Effect.succeed(Option.some(stored))
        }),
      calling: () => Effect.succeed({ uuid, share: uuid, permissions: new Set() }),
      touch: () => Effect.void
    })
    yield* Effect.forkScoped(authenticate(wrong!.key, "flood"), { startImmediately: true })
    const found = yield* Effect.timeoutOption(authenticate(right!.key, "owner"), "1 second").pipe(
      Effect.forkScoped({ startImmediately: true })
    )
    yield* TestClock.adjust("1 second")
    assert.strictEqual(Option.getOrThrow(yield* Fiber.join(found)).uuid, uuid)
    assert.deepStrictEqual(asked, ["flood", "owner"])
  }).pipe(Effect.scoped)
)
