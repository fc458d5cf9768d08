import { type Database, start } from "../support/Databases.ts"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"

/** One PostgreSQL and one folder of files that several nodes share and that no node starts or stops. */
export interface Installation extends Database {
  /** Starts a node, which attaches to the running PostgreSQL. */
  readonly node: (settings?: Readonly<Record<string, string>>) => Promise<Service.Service>
  /** Stops every running node and the PostgreSQL. */
  readonly close: () => Promise<void>
}

export const install = async (): Promise<Installation> => {
  await using stack = new AsyncDisposableStack()
  const { folder, remove } = Process.dataFolder()
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
