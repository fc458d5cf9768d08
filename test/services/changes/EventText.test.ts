import { assert, describe, it } from "@effect/vitest"
import { shared } from "../../../src/services/changes/EventText.ts"
import type { RecordType } from "../../../src/domain/changes/RecordType.ts"
import { storedEvent } from "../../support/changes/StoredEvents.ts"

const types = (...visible: ReadonlyArray<RecordType>) => new Set<RecordType>(visible)

describe("what readers see of an event", () => {
  it("the text of an event is made once for all readers that see the same links, whatever else they may read", () => {
    let count = 0
    const seenOf = shared((_, visible) => `${++count} ${[...visible].join()}`)
    const moved = storedEvent()
    const first = seenOf(moved, types("location"))
    assert.strictEqual(seenOf(moved, types("location", "product")), first)
    assert.strictEqual(seenOf(moved, types("location", "user", "asset")), first)
    assert.isUndefined(seenOf(moved, types("product")))
    assert.strictEqual(count, 1)
  })

  it("differs between readers that see other links", () => {
    const seenOf = shared((_, visible) => [...visible].join())
    const joined = storedEvent({
      type: "group",
      links: [
        { path: "users", added: ["0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e32"], removed: [] },
        { path: "locations", added: ["0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e33"], removed: [] }
      ]
    })
    assert.strictEqual(seenOf(joined, types("group", "user")), "group,user")
    assert.strictEqual(seenOf(joined, types("group", "location")), "group,location")
    assert.strictEqual(seenOf(joined, types("group")), "group")
    assert.strictEqual(seenOf(joined, types("group", "user", "product")), "group,user")
  })
})
