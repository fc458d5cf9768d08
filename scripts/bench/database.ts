import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"
import { cpuOf } from "../../test/support/Services.ts"

/** CPU time of each process of PostgreSQL so far, in microseconds. */
const processes = async (sql: Sql) => {
  const rows = await sql<Array<{ readonly pid: number }>>`select pid from pg_stat_activity`
  return new Map(rows.map(({ pid }) => [pid, cpuOf(pid)]))
}

/** Starts to measure the CPU time of PostgreSQL, without that of processes that end in that time, as those of autovacuum do. */
export const databaseCpu = async (sql: Sql): Promise<() => Promise<number>> => {
  const before = await processes(sql)
  return async () => (await processes(sql)).entries().reduce((sum, [pid, cpu]) => sum + cpu - (before.get(pid) ?? 0), 0)
}

export interface Writes {
  readonly rows: number
  readonly updates: number
  /** Updates that wrote no index. */
  readonly hot: number
  readonly walRecords: number
}

export const writesOf = async (sql: Sql): Promise<Writes> => {
  const [row] = await sql<Array<Writes>>`
    select (select count(*)::int from locations) as rows, n_tup_upd::int as updates, n_tup_hot_upd::int as hot,
      (select wal_records::float from pg_stat_wal) as "walRecords"
    from pg_stat_user_tables where relname = 'locations'`
  return row!
}

/** What the database has written since, once it reports at least as many rows as responses confirmed. */
export const writtenSince = async (sql: Sql, member: "rows" | "updates", before: Writes, responses: number) => {
  // A backend reports its statistics with a delay of up to ten seconds.
  for (let attempt = 0; attempt < 40; attempt++) {
    const now = await writesOf(sql)
    const of = (member: keyof Writes) => now[member] - before[member]
    if (of(member) >= responses) {
      return { rows: of("rows"), updates: of("updates"), hot: of("hot"), walRecords: of("walRecords") } satisfies Writes
    }
    await sleep(500)
  }
  throw new Error(`${responses} writes were confirmed, but the database reports fewer ${member}`)
}
