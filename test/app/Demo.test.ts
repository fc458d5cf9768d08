import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../../package.json" with { type: "json" }

const scripts = fileURLToPath(new URL("../../scripts", import.meta.url))

it("npm run demo says in one line that it needs the packages for development", () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-demo-"))
  cpSync(scripts, join(folder, "scripts"), { recursive: true })
  const command = manifest.scripts.demo.replace("exec node", `exec '${process.execPath}'`)
  const ran = spawnSync("/bin/sh", ["-c", command], { cwd: folder, encoding: "utf8" })
  rmSync(folder, { recursive: true })
  assert.strictEqual(ran.status, 1)
  assert.match(ran.stderr, /^The demo needs the packages for development, [^\n]*\n$/)
})
