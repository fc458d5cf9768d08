import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { sweep } from "../../src/jobs/Sweeper.ts"
import { download } from "../support/requests/FileRequests.ts"
import {
  begin,
  complete,
  mebibyte,
  put,
  putPart,
  sha256,
  type SentPart,
  stored
} from "../support/requests/UploadRequests.ts"
import { randomOf } from "../support/Random.ts"
import { report } from "../support/proofs/Figures.ts"
import { bytes as three, expire, services, statusOf } from "../support/Sweeping.ts"

const next = randomOf(20_261_121)
const below = (limit: number) => Math.floor(next() * limit)
const pick = <A>(list: ReadonlyArray<A>) => list[below(list.length)]!
const shuffled = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> =>
  list
    .map((value) => ({ value, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)

/** A random list of parts, usually invalid. */
const attempt = (parts: ReadonlyArray<SentPart>): ReadonlyArray<SentPart> => {
  let list = shuffled(parts)
  for (let changes = below(3); changes > 0; changes--) {
    const at = below(list.length + 1)
    const part = list[at] ?? parts[0]!
    const without = list.filter((_, index) => index !== at)
    list = pick([
      () => without,
      () => [...list, part],
      () => [...without, { ...part, eTag: pick(parts).eTag }],
      () => [...without, { ...part, eTag: '"00000000000000000000000000000000"' }],
      () => [...without, { ...part, partNumber: pick([4, 5, 10_000, part.partNumber]) }],
      () => list.map((each) => ({ ...each, partNumber: (each.partNumber % 3) + 1 }))
    ])()
  }
  return list
}

/** Whether the list completes the upload: every part once with its current tag, in any order. */
const isRight = (list: ReadonlyArray<SentPart>, parts: ReadonlyArray<SentPart>) =>
  list.length === parts.length &&
  parts.every(({ eTag, partNumber }) => list.some((part) => part.partNumber === partNumber && part.eTag === eTag))

layer(services, { excludeTestServices: true })("parts of an upload", (it) => {
  it.effect("parts can be sent and listed in any order, and a completion with any other list is rejected", (ctx) =>
    Effect.gen(function* () {
      const before = yield* stored
      let rejected = 0
      let made = 0
      for (let round = 0; round < 3; round++) {
        // Three parts of any sizes: only the total size matters.
        const content = randomBytes(16 * mebibyte + 5 + round)
        const cuts = [0, 1 + below(8 * mebibyte), 8 * mebibyte + 1 + below(mebibyte), content.length]
        const session = yield* begin(content.length)
        assert.strictEqual(session.numberOfParts, 3)
        const sent = yield* Effect.forEach(shuffled([1, 2, 3]), (number) =>
          putPart(session, number, content.subarray(cuts[number - 1], cuts[number]))
        )
        for (let attempts = 0; attempts < 60; attempts++) {
          const list = attempt(sent)
          if (isRight(list, sent)) continue
          const { body, status, text } = yield* complete(session.uuid, list)
          assert.deepStrictEqual([status, body._tag], [400, "InvalidRequestError"], `${JSON.stringify(list)} ${text}`)
          rejected++
        }
        const completed = yield* complete(session.uuid, shuffled(sent))
        assert.strictEqual(completed.status, 200, completed.text)
        assert.strictEqual(sha256((yield* download(completed.body.data.url)).bytes), sha256(content))
        // Completing again returns the same file.
        const again = yield* complete(session.uuid, shuffled(sent))
        assert.deepStrictEqual(again.body.data.fileUuid, completed.body.data.fileUuid)
        made++
      }
      yield* Effect.promise(() => report(ctx, { "lists rejected": rejected, "files made": made }))
      assert.isAbove(rejected, 90)
      // Only the files are stored, no parts.
      assert.strictEqual((yield* stored).length, before.length + made)
    })
  )

  it.effect("a part that is sent again replaces the earlier one, whose tag becomes invalid", () =>
    Effect.gen(function* () {
      const session = yield* begin(3)
      const first = yield* putPart(session, 1, Buffer.from("abc"))
      const second = yield* putPart(session, 1, Buffer.from("xyz"))
      assert.strictEqual((yield* complete(session.uuid, [first])).status, 400)
      const { body } = yield* complete(session.uuid, [second])
      assert.strictEqual((yield* download(body.data.url)).text, "xyz")
    })
  )

  it.effect("the parts of an expired upload are removed, and the upload accepts no parts and no completion", (ctx) =>
    Effect.gen(function* () {
      const before = yield* stored
      const sessions = yield* Effect.replicateEffect(begin(16 * mebibyte + 5), 3)
      const part = yield* putPart(sessions[0]!, 2, randomBytes(1000))
      yield* putPart(sessions[0]!, 1, randomBytes(1000))
      yield* putPart(sessions[1]!, 3, three)
      const during = (yield* stored).length - before.length
      for (const { uuid } of sessions) yield* expire(uuid)
      assert.strictEqual((yield* complete(sessions[0]!.uuid, [part])).status, 404)
      yield* sweep
      const after = yield* stored
      yield* Effect.promise(() =>
        report(ctx, { "files of expired uploads": during, "left after the sweep": after.length - before.length })
      )
      assert.isAtLeast(during, 3)
      assert.deepStrictEqual(after, before)
      for (const { parts, uuid } of sessions) {
        assert.strictEqual(yield* statusOf(uuid), "expired")
        assert.strictEqual((yield* put(parts[0]!.url, three)).status, 404)
        assert.strictEqual((yield* complete(uuid, [part])).status, 404)
      }
      assert.deepStrictEqual(yield* stored, before)
    })
  )
})
