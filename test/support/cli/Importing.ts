import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { waypost } from "./Command.ts"
import * as Served from "./Served.ts"

/** A service, and imports of files into it by the command line. */
export const start = async () => {
  const service = await Served.start()
  const env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
  let files = 0
  const file = (content: string | Uint8Array, extension: string) => {
    const path = join(service.folder, `file-${files++}.${extension}`)
    writeFileSync(path, content)
    return path
  }
  const run = (resource: string, path: string, ...flags: ReadonlyArray<string>) =>
    waypost(["import", resource, path, ...flags], env)
  return {
    service,
    env,
    file,
    run,
    /** Imports locations from a new file. */
    locations: (content: string | Uint8Array, extension: string, ...flags: ReadonlyArray<string>) =>
      run("locations", file(content, extension), ...flags),
    /** The location with the identifier, or nothing. */
    find: async (identifier: string) =>
      (await service.call("GET", `/v1/locations?filter=identifier:equals:${identifier}`)).body.data[0],
    total: async (resource: string) =>
      Number((await service.call("GET", `/v1/${resource}?limit=1`)).body.pagination.total),
    refused: (path: string, format: string) => readFileSync(`${path}.refused.${format}`, "utf8")
  }
}

export type Importing = Awaited<ReturnType<typeof start>>
