import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** A program that prints how many threads its process has for files. */
const program = `
  import { readdirSync, readFileSync } from "node:fs"
  import { stat } from "node:fs/promises"
  await stat(".")
  const names = readdirSync("/proc/self/task").map((thread) => readFileSync(\`/proc/self/task/\${thread}/comm\`, "utf8"))
  console.log(names.filter((name) => name.trim() === "libuv-worker").length)
`

// Other systems have no files that list the threads of a process.
describe.skipIf(process.platform !== "linux")("the threads of the service for files", () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "waypost-threads-"))
    cpSync(fileURLToPath(new URL("../../bin", import.meta.url)), join(folder, "bin"), { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", engines: { node: ">=22.19" } }))
    mkdirSync(join(folder, "src"))
    writeFileSync(join(folder, "src/main.ts"), program)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ["16 by default", {}, "16"],
    ["16 if UV_THREADPOOL_SIZE is empty", { UV_THREADPOOL_SIZE: "" }, "16"],
    ["as many as UV_THREADPOOL_SIZE says", { UV_THREADPOOL_SIZE: "5" }, "5"]
  ])("the service has %s", (_, env, threads) => {
    const ran = spawnSync(process.execPath, ["bin/service.mjs"], { cwd: folder, env, encoding: "utf8" })
    assert.deepStrictEqual([ran.status, ran.stdout.trim()], [0, threads], ran.stderr)
  })
})
