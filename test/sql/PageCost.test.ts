import { assert, describe, it } from "vitest"
import * as PageCost from "../../src/sql/lists/PageCost.ts"

const mebibyte = 1024 * 1024
const minute = 60_000

/** What is expected of the pages of a list, whose clock stands still unless it is moved. */
const make = () => {
  let now = 0
  const cost = PageCost.make(() => now)
  const of = (limit: number) => (cost.isCheap(limit) ? "cheap" : cost.isLarge(limit) ? "large" : "ordinary")
  return { ...cost, of, pass: (millis: number) => (now += millis) }
}

describe("what a page of a list may cost", () => {
  it("before the first page, more than the default limit may be large", () => {
    const { of } = make()
    assert.deepStrictEqual([1, 25, 26, 500].map(of), ["cheap", "cheap", "large", "large"])
  })

  it("the cost of a page is in proportion to its limit", () => {
    const { note, of } = make()
    note(25 * 1024, 25)
    assert.deepStrictEqual([25, 256, 257, 500].map(of), ["cheap", "cheap", "ordinary", "ordinary"])
    note(250 * 12_000, 250)
    assert.deepStrictEqual([25, 150, 250].map(of), ["ordinary", "ordinary", "large"])
  })

  it("the cost of a page is not multiplied by the largest record, which a page of one row may have been", () => {
    const { note, of } = make()
    note(64 * 1024, 1)
    assert.deepStrictEqual([1, 25, 100, 500].map(of), ["cheap", "cheap", "cheap", "ordinary"])
  })

  it("the cost of a page does not fall with the number of small pages", () => {
    const { note, of } = make()
    note(15 * mebibyte, 250, { isAtLeast: true })
    for (let page = 0; page < 10_000; page++) note(25 * 1024, 25)
    assert.deepStrictEqual([25, 250].map(of), ["ordinary", "large"])
  })

  it("falls once no page was as large for ten minutes, and is unknown after ten without a page", () => {
    const { note, of, pass } = make()
    note(15 * mebibyte, 250)
    for (const passed of [4, 5]) {
      pass(passed * minute)
      note(25 * 1024, 25)
    }
    assert.strictEqual(of(250), "large")
    pass(minute)
    assert.deepStrictEqual([25, 250].map(of), ["cheap", "cheap"])
    pass(10 * minute)
    assert.deepStrictEqual([25, 250].map(of), ["cheap", "large"])
  })

  it("of a page that took too long is not cheap for as many rows, and not large for it", () => {
    const { noteSlow, of } = make()
    noteSlow(250)
    assert.deepStrictEqual([25, 250].map(of), ["cheap", "large"])
    noteSlow(25)
    assert.deepStrictEqual([1, 25].map(of), ["ordinary", "ordinary"])
  })

  it("the cost of a page is at least that of a page with some members of its records", () => {
    const { note, of } = make()
    note(500, 25, { isAtLeast: true })
    assert.deepStrictEqual([25, 500].map(of), ["cheap", "large"])
    note(25 * 1024, 25)
    note(13 * mebibyte, 70, { isAtLeast: true })
    assert.deepStrictEqual([25, 70].map(of), ["large", "large"])
  })
})
