import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const launcher = fileURLToPath(new URL("../../bin/waypost.mjs", import.meta.url))

/** Runs the command line as people do, and gives what it printed and its exit code. */
export const waypost = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  input = ""
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> => {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], LOG_LEVEL: "warn", ...env },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let out = ""
  let err = ""
  child.stdout.on("data", (chunk) => (out += String(chunk)))
  child.stderr.on("data", (chunk) => (err += String(chunk)))
  child.stdin.end(input)
  const [code] = await once(child, "close")
  return { code: code as number | null, out, err }
}
