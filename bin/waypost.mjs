#!/usr/bin/env node
// Plain JavaScript, because it starts on any Node and continues on one that runs our TypeScript.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const [major, minor] = process.versions.node.split(".").map(Number)
const entry = new URL("../src/cli/main.ts", import.meta.url)
const bundled = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url))

if (major > 22 || (major === 22 && minor >= 19)) {
  await import(entry.href)
} else if (existsSync(bundled)) {
  const child = spawn(bundled, [fileURLToPath(entry), ...process.argv.slice(2)], { stdio: "inherit" })
  // On a terminal the child gets the signal as well; this process must outlive it to report its exit code.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on("exit", (code, signal) => {
    for (const name of signals) process.removeAllListeners(name)
    if (signal === null) process.exit(code ?? 1)
    else process.kill(process.pid, signal)
  })
} else {
  process.stderr.write(
    `Waypost needs Node.js 22.19 or newer, this is ${process.versions.node}. Run npm ci, which brings one\n`
  )
  process.exitCode = 1
}
