import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createEverything } from "../../test/support/proofs/Everything.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Running from "../../test/support/proofs/Running.ts"
import { TestServer } from "../../test/support/TestServer.ts"

const kinds = {
  location: "locations",
  user: "users",
  group: "groups",
  product: "products",
  asset: "assets",
  post: "posts",
  category: "asset_categories",
  metaTag: "meta_tag_definitions",
  apiKey: "api_keys"
} as const

export type Kind = keyof typeof kinds

/** The service as a process with records of every kind, and the parameters of an attack. */
export interface Target
  extends AsyncDisposable, Pick<Running.Running, "url" | "pid" | "sql" | "call" | "key" | "output"> {
  /** A folder for the output of the tools. */
  readonly folder: string
  /** A record of each kind. */
  readonly uuids: Readonly<Record<Kind, string>>
  /** Path and query of the signed URLs of a file and of a part of 1,000 bytes. */
  readonly file: string
  readonly part: string
  /** The row counts of all tables. */
  readonly rows: () => Promise<ReadonlyMap<string, number>>
}

const pathOf = (address: string) => {
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** Records of every kind and an additional key. */
const fill = (url: string) => {
  const unused = () => Effect.die(new Error("Not used by attacks"))
  const server = TestServer.of({
    fetch: (path, init) => fetch(new URL(path, url), init),
    fullKey: Running.key,
    key: unused,
    client: unused
  })
  return createEverything.pipe(
    Effect.repeat({ times: 2 }),
    Effect.provideService(TestServer, server),
    // Only file rows without bytes use it, and here every file has bytes.
    Effect.provideService(Sql, {} as Sql["Service"]),
    Effect.runPromise
  )
}

/** Tables that change without requests: row counts are folded, words of names are cleaned, and the other is a queue. */
const volatile = new Set(["asset_words", "row_counts", "stale_asset_texts"])

const rowsOf = async (sql: Running.Running["sql"]) => {
  const tables = await sql<ReadonlyArray<{ readonly name: string }>>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`
  const counts = new Map<string, number>()
  for (const { name } of tables.filter(({ name }) => !volatile.has(name))) {
    const [row] = await sql<ReadonlyArray<{ readonly count: number }>>`select count(*)::int as count from ${sql(name)}`
    counts.set(name, row!.count)
  }
  return counts
}

const uuidsOf = async (sql: Running.Running["sql"]) => {
  const uuids: Partial<Record<Kind, string>> = {}
  for (const [kind, table] of Object.entries(kinds)) {
    const [row] = await sql<ReadonlyArray<{ readonly uuid: string }>>`
      select uuid from ${sql(table)} order by created_at desc, uuid desc limit 1`
    uuids[kind as Kind] = row!.uuid
  }
  return uuids as Record<Kind, string>
}

export const start = async (): Promise<Target> => {
  await using stack = new AsyncDisposableStack()
  const { call, folder: data, key, output, pid, sql, url } = stack.use(await Running.start())
  await fill(url)
  await call("POST", "/v1/api-keys", { name: "Victim", permissions: ["read:assets"] })
  const uuids = await uuidsOf(sql)
  const asset = await call("GET", `/v1/assets/${uuids.asset}`)
  const upload = await call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: 1000 })
  const folder = join(data, "tools")
  mkdirSync(folder)
  const disposal = stack.move()
  return {
    url,
    pid,
    sql,
    call,
    key,
    folder,
    uuids,
    file: pathOf(asset.body.data.urls.original),
    part: pathOf(upload.body.data.parts[0].url),
    output,
    rows: () => rowsOf(sql),
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}
