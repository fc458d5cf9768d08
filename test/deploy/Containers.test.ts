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

  it("the guide to containers names every port of the machine that deploy/compose.yaml takes", () => {
    const taken = [...read("deploy/compose.yaml").matchAll(/^ {4}ports: \[(.+)\]$/gm)]
      .flatMap(([, ports]) => [...ports!.matchAll(/"(\d+):\d+"/g)])
      .map(([, port]) => port!)
    const [, named = ""] = /The ports ([^.]+) of the\s+machine must be free\./.exec(read("docs/container.md"))!
    assert.isAbove(taken.length, 3)
    assert.sameMembers(named.match(/\d+/g)!, taken)
  })

  it("the guide to containers waits for the service at the address that deploy/compose.yaml gives it", () => {
    const [, address] = /^ {4}PUBLIC_URL: (\S+)$/m.exec(read("deploy/compose.yaml"))!
    assert.include(read("docs/container.md"), `until curl -fs "${address}/readyz"; do`)
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
