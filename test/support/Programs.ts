import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { own } from "./Children.ts"

export const isInstalled = (command: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

export interface Outcome {
  readonly output: string
  readonly bytes: Buffer
  readonly late: boolean
}

/** Arguments of a command line; an array groups related ones. */
type Args = ReadonlyArray<string | ReadonlyArray<string>>

/** Runs a command for at most `seconds`, with `home` as its home directory. */
export const runTool = (command: string, args: Args, home: string, seconds: number) =>
  new Promise<Outcome>((resolve, reject) => {
    const env = { PATH: process.env["PATH"], HOME: home, TERM: "dumb", LANG: "C.UTF-8" }
    const child = spawn(command, args.flat(), { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] })
    const chunks: Array<Buffer> = []
    let late = false
    const { exited, signal } = own(child)
    const timer = setTimeout(() => {
      late = true
      signal("SIGKILL")
    }, seconds * 1000)
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk))
    exited.catch(reject)
    child.on("close", () => {
      clearTimeout(timer)
      const bytes = Buffer.concat(chunks)
      resolve({ bytes, output: bytes.toString("utf8"), late })
    })
  })

/** Maps over all values with limited concurrency; the results keep the order. */
export const inTurns = async <A, B>(all: ReadonlyArray<A>, atOnce: number, work: (one: A) => Promise<B>) => {
  const results: Array<B> = []
  const queue = all.entries()
  const take = async () => {
    for (const [index, one] of queue) results[index] = await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, take))
  return results
}
