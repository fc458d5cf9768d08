import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A POST with large bodies, repeated over many connections. */
export interface BodyFlood {
  readonly url: string
  readonly key: string
  readonly type: string
  readonly connections: number
  readonly seconds: number
  /** The key that deletes what an answer with 201 created. */
  readonly removeWith: string
}

/** Reads what `flood` wrote for the process. */
export const readJson = (file: string): BodyFlood & { readonly files: ReadonlyArray<string> } =>
  JSON.parse(readFileSync(file, "utf8"))

/** Sends the bodies in turn from a process of its own; returns how often each status came. */
export const flood = async (
  request: BodyFlood,
  bodies: ReadonlyArray<Buffer>
): Promise<ReadonlyMap<number, number>> => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-flood-"))
  try {
    const files = bodies.map((body, number) => {
      const file = join(folder, String(number))
      writeFileSync(file, body)
      return file
    })
    const description = join(folder, "request.json")
    writeFileSync(description, JSON.stringify({ ...request, files }))
    const program = fileURLToPath(new URL("BodyFloodProcess.ts", import.meta.url))
    const { stdout } = await run(process.execPath, [program, description])
    return new Map(JSON.parse(stdout))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
