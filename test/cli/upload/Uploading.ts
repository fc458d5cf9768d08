import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Process from "../../support/Process.ts"
import type { Call } from "../../support/Service.ts"
import * as Command from "../../support/cli/Command.ts"
import * as Proxy from "../../support/cli/Proxy.ts"
import * as Served from "../../support/cli/Served.ts"

interface Asset {
  readonly uuid: string
  readonly fileNameOriginal: string
  readonly fileSize: number
  readonly sha256: string
  readonly categories: ReadonlyArray<string>
  readonly translations: ReadonlyArray<{ readonly locale: string; readonly name: string }>
}

export const mebibyte = 1024 * 1024

/** A service behind a proxy, and a folder for files and for the state of the command line. */
export const start = async () => {
  // The proxy needs the port of the service, and the service needs the URL of the proxy.
  const port = await Process.freePort()
  const url = `http://127.0.0.1:${port}`
  const proxy = await Proxy.start(url)
  const service = await Served.start({ PORT: String(port), PUBLIC_URL: proxy.url })
  const { folder, key } = service
  const env = { WAYPOST_URL: proxy.url, WAYPOST_API_KEY: key, XDG_STATE_HOME: join(folder, "state") }

  const call = async (...asked: Parameters<Call>) =>
    (await service.call(...asked)).body as { readonly data: unknown; readonly counts?: object }

  return {
    folder,
    url,
    execute: service.execute,
    proxy,
    env,
    call,
    /** All assets, sorted by file name. */
    assets: async () => {
      const { data } = await call(
        "GET",
        "/v1/assets?limit=500&sortBy=fileNameOriginal&sortOrder=asc&include=sha256,categories"
      )
      return data as ReadonlyArray<Asset>
    },
    /** Writes a file with random bytes or a text; returns its SHA-256. */
    file: (name: string, content: number | string) => {
      const path = join(folder, name)
      mkdirSync(dirname(path), { recursive: true })
      const bytes = typeof content === "number" ? randomBytes(content) : Buffer.from(content)
      writeFileSync(path, bytes)
      return createHash("sha256").update(bytes).digest("hex")
    },
    /** The journal entries of a file. */
    journal: (name: string) => {
      const state = join(folder, "state/waypost/uploads")
      const lines = existsSync(state) ? readdirSync(state).map((file) => readFileSync(join(state, file), "utf8")) : []
      return lines
        .join("")
        .split("\n")
        .filter((line) => line.includes(name))
        .join("\n")
    },
    upload: (name: string, ...options: ReadonlyArray<string>) =>
      Command.waypost(["upload", join(folder, name), ...options], env),
    begin: (name: string, ...options: ReadonlyArray<string>) =>
      Command.start(["upload", join(folder, name), ...options], env),
    stop: async () => {
      proxy.close()
      await service[Symbol.asyncDispose]()
    }
  }
}
