import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import * as Process from "../support/Process.ts"

/** One PostgreSQL and one folder of files that several nodes share, and that none of them starts or stops. */
export interface Installation {
  readonly folder: string
  readonly postgres: EmbeddedPostgres.Server
  readonly key: string
  /** Starts a node; it attaches to the PostgreSQL that runs. */
  readonly node: (env?: Readonly<Record<string, string>>) => Promise<Process.Service>
  readonly close: () => Promise<void>
}

export const install = async (): Promise<Installation> => {
  const { folder, remove } = Process.dataFolder()
  const scope = Scope.makeUnsafe()
  const postgres = await Effect.runPromise(
    EmbeddedPostgres.start({ dataDir: join(folder, "postgres") }).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.provide(NodeServices.layer)
    )
  )
  const { key } = ApiKeySecret.format(new Uint8Array(16).fill(4), new Uint8Array(32).fill(2))
  return {
    folder,
    postgres,
    key,
    node: (env = {}) => Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key, ...env }),
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      remove()
    }
  }
}

/** Tells nodes to stop and waits until they have. */
export const stop = (...nodes: ReadonlyArray<Process.Service>) =>
  Promise.all(
    nodes.map((node) => {
      node.process.kill("SIGTERM")
      return node.exited
    })
  )

/** Sends JSON on a connection of its own. */
export const call = async (url: string, key: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: key, "content-type": "application/json", connection: "close" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
}
