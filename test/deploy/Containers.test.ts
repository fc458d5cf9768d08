import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const read = (file: string) => readFileSync(join(import.meta.dirname, "../..", file), "utf8")

/** The text of a service of the Compose file. */
const serviceOf = (name: string) =>
  read("deploy/compose.yaml")
    .split(`\n  ${name}:\n`)[1]!
    .split(/\n {2}\w|\nvolumes:/)[0]!

describe("deploy/compose.yaml", () => {
  it("deploy/compose.yaml has an object store that browsers may send parts to, from the pages of any origin", () => {
    const store = serviceOf("files.localhost")
    assert.include(store, "versitygw")
    // The rule of versitygw for buckets without one, since version 1.1.
    assert.match(store, /^ {6}VGW_CORS_ALLOW_ORIGIN: "\*"$/m)
  })
})

describe("deploy/kubernetes.yaml", () => {
  it("the memory limit of deploy/kubernetes.yaml has room for what the guide names, the heap and the decoders among it", () => {
    const [, heap] = /--max-old-space-size=(\d+)/.exec(read("deploy/Containerfile"))!
    // Of the memory of the process that makes thumbnails, half is for its decoders.
    const [, rendering] = /memoryLimit = (\d+) \* 1024$/m.exec(read("src/media/RendererProcess.ts"))!
    const [, limit] = /limits: \{ memory: (\d+)Mi \}/.exec(read("deploy/kubernetes.yaml"))!
    const [, shown, parts = ""] = /^\| a memory limit of ([\d.]+) GiB \| (.+) \|$/m.exec(read("docs/container.md"))!
    const named = [...parts.matchAll(/(\d+)(?: (GiB|MiB)|;)/g)].map(
      ([, size, unit]) => Number(size) * (unit === "GiB" ? 1024 : 1)
    )
    assert.lengthOf(named, 4)
    assert.strictEqual(named[0], Number(heap))
    assert.isAtLeast(named[3]!, Number(rendering) / 2)
    assert.strictEqual(Number(shown) * 1024, Number(limit))
    assert.isAtLeast(
      Number(limit),
      named.reduce((sum, size) => sum + size)
    )
  })
})
