import * as Process from "../Process.ts"
import * as Service from "../Service.ts"
import * as Database from "./Database.ts"

/** A primary with the tables of the service, and what reads off its replicas. */
export interface Replication extends AsyncDisposable {
  readonly primary: Database.Database
  /** Starts a replica with settings of its own. */
  readonly standby: (settings?: Readonly<Record<string, string>>) => Promise<Database.Database & AsyncDisposable>
  /** Starts the service with replicas. */
  readonly serving: (
    replicas: ReadonlyArray<Database.Database>,
    settings?: Readonly<Record<string, string>>
  ) => Promise<Service.Service>
}

export const start = async (): Promise<Replication> => {
  const primary = await Database.make({ wal_keep_size: "512MB" }, Database.migrated)
  // The tables exist before replicas are copied.
  if (!Process.hasMigratedDatabase()) {
    const { folder, remove } = Process.dataFolder()
    const service = await Service.start({ DATABASE_URL: primary.url }, { folder })
    await service[Symbol.asyncDispose]()
    remove()
  }
  return {
    primary,
    standby: async (settings = {}) => {
      const made = await Database.standbyOf(primary, { hot_standby_feedback: "on", ...settings })
      return Object.assign(made, { [Symbol.asyncDispose]: () => made.remove() })
    },
    serving: (replicas, settings = {}) =>
      Service.start({
        DATABASE_URL: primary.url,
        DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(","),
        ...settings
      }),
    [Symbol.asyncDispose]: () => primary.remove()
  }
}

/** Whether a replica answered a read. */
export const isOfReplica = ({ headers }: Service.Answer) => headers.get("waypost-position") !== null
