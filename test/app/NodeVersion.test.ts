import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../..", import.meta.url))

describe("the oldest Node that package.json names", () => {
  it("parses all of src: no declaration has `using`, which came with Node 24", () => {
    const sources = globSync("src/**/*.{ts,tsx,js,mjs}", { cwd: root })
    assert.isAbove(sources.length, 500)
    assert.match(manifest.engines.node, /^>=22\./)
    const found = sources.filter((source) =>
      /^\s*(?:await )?using (?!errcode)\w+ =/m.test(readFileSync(join(root, source), "utf8"))
    )
    assert.deepStrictEqual(found, [])
  })
})

describe("on a Node that is older than package.json says", () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "waypost-node-"))
    cpSync(join(root, "bin"), join(folder, "bin"), { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ engines: { node: ">=99.1" } }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ["the service", "node bin/service.mjs"],
    ["the command line", "node bin/waypost.mjs --version"],
    ["npm ci", manifest.scripts.prepare]
  ])("%s says in one line which Node it needs, and exits with 1", (_, command) => {
    const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
    const ran = spawnSync("/bin/sh", ["-c", command], { cwd: folder, env: { PATH }, encoding: "utf8" })
    const message = `Waypost needs Node 99.1 or newer; this is ${process.versions.node}\n`
    assert.deepStrictEqual([ran.status, ran.stdout, ran.stderr], [1, "", message])
  })
})
