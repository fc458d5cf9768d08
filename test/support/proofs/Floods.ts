import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Repeats a GET over many connections for some seconds; returns how often each status came. */
export const flood = async (
  url: string,
  connections: number,
  seconds: number,
  request: (connection: number) => { readonly path: string; readonly key: string; readonly init?: RequestInit }
) => {
  const statuses = new Map<number, number>()
  const until = performance.now() + seconds * 1000
  const repeat = async (_: unknown, connection: number) => {
    while (performance.now() < until) {
      const { init, key, path } = request(connection)
      const headers = { authorization: key, "content-type": "application/json" }
      const response = await fetch(`${url}${path}`, { ...init, headers }).catch(() => undefined)
      await response?.arrayBuffer().catch(() => undefined)
      const status = response?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: connections }, repeat))
  return statuses
}

/** The same for one path, in a process of its own. */
export const floodElsewhere = async (
  url: string,
  connections: number,
  seconds: number,
  { key, path }: { readonly path: string; readonly key: string }
): Promise<ReadonlyMap<number, number>> => {
  const program = fileURLToPath(new URL("FloodProcess.ts", import.meta.url))
  const { stdout } = await run(process.execPath, [program, url, path, key, String(connections), String(seconds)])
  return new Map(JSON.parse(stdout))
}
