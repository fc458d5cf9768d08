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
