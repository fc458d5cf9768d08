import postgres from "postgres"
import * as Seeds from "../../../test/support/Databases.ts"
import { type Load, run } from "../../../test/support/LoadClients.ts"
import { listPath, reading } from "../../../test/support/Operations.ts"
import * as Replication from "../../../test/support/proofs/Replication.ts"
import { key } from "../../../test/support/Service.ts"
import { waypost } from "../../../test/support/Services.ts"
import { warmUp } from "../measure.ts"
import { median } from "../report.ts"
import { untilAssessed } from "../scale/assessed.ts"
import { limit } from "./group.ts"
import { type Costs, rates } from "./model.ts"

interface Options {
  readonly costs: Costs
  readonly idle: number
  readonly size: number
  readonly rounds: number
  readonly load: Omit<Load, "key">
  readonly folder: string
  readonly say: (text: string) => void
}

const most = 2
/** The part of a processor that each database has. */
export const share = 0.2

/** Lists of a node without a limit, whose databases have a part of a processor each: those of the primary alone, of one replica and of two. */
export const replicated = async ({ costs, folder, idle, load: clients, rounds, say, size }: Options) => {
  const load = { ...clients, key }
  await using keep = new AsyncDisposableStack()
  const replication = keep.use(await Replication.start())
  const sql = postgres(replication.primary.url, { max: 2 })
  keep.defer(() => sql.end({ timeout: 5 }))
  await Seeds.seed(sql, size)
  const serving = (replicas: ReadonlyArray<{ readonly url: string }>) => {
    const environment = {
      DATABASE_URL: replication.primary.url,
      DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(",")
    }
    return waypost({ database: { folder }, key, pool: 10, folder, environment })
  }
  const replicas: Array<Awaited<ReturnType<typeof replication.standby>>> = []
  const checks: Array<ReadonlyArray<string>> = []
  for (let count = 0; count <= most; count++) {
    if (count > 0) replicas.push(keep.use(await replication.standby()))
    await using node = await serving(replicas)
    if (count === 0) await untilAssessed({ size, sql }, say)
    const list = reading("list", [listPath])
    await warmUp(node, list, load)
    using limits = new DisposableStack()
    for (const database of [replication.primary, ...replicas]) limits.use(limit(database.postmaster(), share))
    const measured: Array<number> = []
    for (let round = 0; round < rounds; round++) measured.push((await run(node, list, load)).perSecond)
    const rate = rates(costs, { list: 1 }, { nodes: 1, node: 1, replicas: count, database: share, idle })
    const predicted = Math.min(rate.service, rate.database)
    checks.push([
      String(count),
      predicted.toFixed(0),
      median(measured).toFixed(0),
      (median(measured) / predicted).toFixed(2)
    ])
    say(`replicas: ${checks.at(-1)!.join("  ")}`)
  }
  return checks
}
