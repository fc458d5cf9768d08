import { afterAll, beforeAll } from "vitest"
import { type Database, start } from "./Databases.ts"
import * as Process from "./Process.ts"
import * as Service from "./Service.ts"

/** One PostgreSQL and one folder of files that several nodes share and that no node starts or stops. */
export interface Installation extends Database {
  /** Starts a node, which attaches to the running PostgreSQL. */
  readonly node: (settings?: Readonly<Record<string, string>>) => Promise<Service.Service>
  /** Stops every running node and the PostgreSQL. */
  readonly close: () => Promise<void>
}

export const install = async ({ folder, remove } = Process.migratedFolder()): Promise<Installation> => {
  await using stack = new AsyncDisposableStack()
  stack.defer(remove)
  const database = stack.use(await start(folder))
  const nodes = stack.use(new AsyncDisposableStack())
  const disposal = stack.move()
  const close = () => disposal.disposeAsync()
  return {
    ...database,
    node: async (settings) => nodes.use(await Service.start(settings, { folder })),
    close,
    [Symbol.asyncDispose]: close
  }
}

/** Starts a node for each of the settings before the tests of a suite, and stops them after its last test. */
export const nodesOfSuite = (settings: ReadonlyArray<Readonly<Record<string, string>>>) => {
  const nodes: Array<Service.Service> = []
  let installation: Installation | undefined
  beforeAll(async () => {
    installation = await install()
    for (const each of settings) nodes.push(await installation.node(each))
  })
  afterAll(() => installation?.close())
  return { nodes, installation: () => installation! }
}
