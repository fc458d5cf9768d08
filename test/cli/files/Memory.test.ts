import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { locations } from "../../../src/cli/transfer/Resources.ts"
import { readRows } from "../../support/cli/Reading.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const heap = () => {
  collect()
  return process.memoryUsage().heapUsed
}

const piece = 500
const early = 4000
const rows = 40_000

const texts = {
  csv: (index: number) => `Branch ${index};B-${index};030 123 45 67;Nederland\n`,
  ndjson: (index: number) => `{"name":"Branch ${index}","identifier":"B-${index}"}\n`
}

describe.each(["csv", "ndjson"] as const)("a %s file", (format) => {
  it.effect("of ten times the rows takes no more memory, but for 44 bytes a row with the hashes of its keys", () =>
    Effect.gen(function* () {
      const header = format === "csv" ? ["name;identifier;contact.phone;address.countryCode\n"] : []
      const bytes = Stream.range(0, rows / piece - 1).pipe(
        Stream.map((at) => Array.from({ length: piece }, (_, index) => texts[format](at * piece + index)).join("")),
        (pieces) => Stream.concat(Stream.fromIterable(header), pieces),
        Stream.rechunk(1),
        Stream.encodeText
      )
      let read = 0
      let before = 0
      let after = 0
      yield* Stream.runForEach(readRows(format, locations, bytes), () =>
        Effect.sync(() => {
          read++
          if (read === early) before = heap()
          if (read === rows) after = heap()
        })
      )
      assert.strictEqual(read, rows)
      assert.isBelow(after - before, 44 * (rows - early))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
