import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../src/domain/schema/Json.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { resolve } from "../../../../src/domain/write/References.ts"
import { long, many, now, outcome, rejects, stores, uuid } from "./outcome.ts"

describe("the internal comment module", () => {
  it("the internal comment module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("internal-comment", {}), { visibility: "admins", thread: [] }))

  it("the internal comment module stores values within the bounds", () => {
    const entry = { uuid: uuid(1), body: "a", status: "active", createdAt: now }
    assert.deepStrictEqual(
      ...stores(
        "internal-comment",
        {},
        { comment: `# A\n\n${long(9000)}`, visibility: "managers" },
        [{ editedBy: { uuid: uuid(7), name: "Anna" } }, { editedBy: { uuid: uuid(7) } }],
        [{ thread: [{ body: " a " }] }, { thread: [entry] }],
        [
          { thread: [{ ...entry, author: { uuid: uuid(7) }, status: "resolved" }] },
          { thread: [{ ...entry, author: { uuid: uuid(7) }, status: "resolved" }] }
        ]
      )
    )
    assert.lengthOf((outcome("internal-comment", { thread: many(500, () => ({ body: "a" })) }) as any).thread, 500)
  })

  it("the internal comment module sorts the thread by time", () => {
    const thread = [3, 1, 2].map((day) => ({ body: `${day}`, createdAt: `2026-01-0${day}T00:00:00.000Z` }))
    const stored = outcome("internal-comment", { thread }) as { readonly thread: ReadonlyArray<{ body: string }> }
    assert.deepStrictEqual(stored.thread.map(({ body }) => body).join(""), "123")
  })

  it("the internal comment module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "internal-comment",
        {},
        [{ comment: long(10_001) }, "comment tooLong"],
        [{ visibility: "everyone" }, "visibility notAllowed"],
        [{ thread: [{ body: long(5001) }] }, "thread.0.body tooLong"],
        [{ thread: [{}] }, "thread.0.body required"],
        [{ thread: [{ body: "a", status: "open" }] }, "thread.0.status notAllowed"],
        [{ thread: many(2, () => ({ uuid: uuid(1), body: "a" })) }, "thread.1.uuid duplicate"],
        [{ thread: many(501, () => ({ body: "a" })) }, "thread tooMany"]
      )
    ))

  it("comments of deleted users are kept without their author", () => {
    const settings = outcome("internal-comment", {
      editedBy: { uuid: uuid(7) },
      thread: [7, 8].map((person) => ({ body: "a", createdAt: now, author: { uuid: uuid(person) } }))
    })
    const lookup = (_: string, id: string) => (id === uuid(8) ? { name: "Bo" } : undefined)
    const resolved = resolve(moduleOf("internal-comment"), settings as Json, lookup) as any
    assert.notProperty(resolved, "editedBy")
    assert.notProperty(resolved.thread[0], "author")
    assert.deepStrictEqual(resolved.thread[1].author, { uuid: uuid(8), name: "Bo" })
  })
})
