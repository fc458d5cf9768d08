import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../../package.json" with { type: "json" }
import { own } from "../support/Children.ts"
import { current } from "../support/cli/Backups.ts"
import * as Postgres from "../support/Postgres.ts"
import * as Process from "../support/Process.ts"

const scripts = fileURLToPath(new URL("../../scripts", import.meta.url))

it("npm run demo says in one line that it needs the packages for development", () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-demo-"))
  const filter = (source: string) => basename(source) !== "node_modules"
  cpSync(scripts, join(folder, "scripts"), { recursive: true, filter })
  const command = manifest.scripts.demo.replace("exec node", `exec '${process.execPath}'`)
  const ran = spawnSync("/bin/sh", ["-c", command], { cwd: folder, encoding: "utf8" })
  rmSync(folder, { recursive: true })
  assert.strictEqual(ran.status, 1)
  assert.match(ran.stderr, /^The demo needs the packages for development, [^\n]*\n$/)
})

/** `npm run dev` on a database and a folder that does not exist. */
const develop = (cwd: string, DATABASE_URL: string) => {
  const child = spawn(process.execPath, [join(scripts, "dev.ts")], {
    cwd,
    env: { PATH: process.env["PATH"], DATABASE_URL, DATA_DIR: "new/data", PORT: "0", LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  return { child, output: () => output, ...own(child) }
}

it.live("npm run dev prints its key whatever LOG_LEVEL is, and stops the service when its terminal is closed", () =>
  Effect.gen(function* () {
    const url = yield* current
    yield* Effect.promise(async () => {
      const { folder, remove } = Process.dataFolder()
      const { child, exited, output } = develop(folder, url)
      const key = await Process.until("the key is printed", () => /for development: (wp_\w+)/.exec(output())?.[1])
      assert.strictEqual(readFileSync(join(folder, "new/data/dev-key"), "utf8"), `${key}\n`)
      assert.notInclude(output(), `"level":"INFO"`)
      const [service] = Process.childrenOf(child.pid!, "main.ts")
      child.kill("SIGHUP")
      assert.strictEqual(await exited, 0)
      assert.isFalse(Process.isRunning(service!))
      remove()
    })
  }).pipe(Effect.provide(Postgres.database))
)
