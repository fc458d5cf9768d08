#!/usr/bin/env node
// Plain JavaScript, because it starts on any Node and continues on one that runs our TypeScript.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import * as module from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { isSupported } from "./node.mjs"
import { fileOf } from "./program.mjs"

const entry = fileOf("cli/main")
const bundled = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url))
// Compiled code is kept for the next command: without it most of the time goes into compiling.
const cache = process.env.NODE_COMPILE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "waypost")

if (isSupported || !existsSync(bundled)) {
  await import("./requireNode.mjs")
  module.enableCompileCache(cache)
  await import(pathToFileURL(entry).href)
} else {
  const child = spawn(bundled, [entry, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, NODE_COMPILE_CACHE: cache }
  })
  // On a terminal the child gets the signal as well; this process must outlive it to report its exit code.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on("exit", (code, signal) => {
    for (const name of signals) process.removeAllListeners(name)
    if (signal === null) process.exit(code ?? 1)
    else process.kill(process.pid, signal)
  })
}
