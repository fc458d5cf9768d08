import { assert, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

const words = fileURLToPath(new URL("../../scripts/words.ts", import.meta.url))

/** A word that the check finds; in two pieces, because the check reads this file too. */
const banned = ["men", "ded"].join("")

it("the check of words reads components, styles and pages, and no file that is deleted", () => {
  const cwd = mkdtempSync(join(tmpdir(), "waypost-words-"))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  // Without the variables by which Git would use another repository.
  const options = { cwd, env: { PATH: process.env["PATH"] }, encoding: "utf8" } as const
  mkdirSync(join(cwd, "src"))
  const names = ["page.css", "page.html", "page.js", "Page.tsx"]
  for (const name of [...names, "deleted.ts"]) writeFileSync(join(cwd, "src", name), `${banned}\n`)
  execFileSync("git", ["init", "--quiet"], options)
  execFileSync("git", ["add", "."], options)
  rmSync(join(cwd, "src/deleted.ts"))
  const { status, stderr } = spawnSync(process.execPath, [words], options)
  const found = stderr.split("\n").filter((line) => line.includes(banned))
  assert.sameMembers(
    found.map((line) => line.split(":")[0]),
    names.map((name) => `src/${name}`)
  )
  assert.strictEqual(status, 1)
})
