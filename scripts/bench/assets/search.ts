import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Read, readsOf } from "../scale/asset-reads.ts"
import { seedAssets } from "../scale/asset-rows.ts"
import * as Database from "../../../test/support/Databases.ts"
import { type Figure, ratioOf } from "../figures.ts"
import { type Load, run, type Slice } from "../../../test/support/LoadClients.ts"
import { median, verdict } from "../report.ts"
import { type Settings, waypost } from "../../../test/support/Services.ts"

export interface Contest {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: number
  readonly load: Load
  readonly settings: Omit<Settings, "database">
  readonly say: (text: string) => void
}

interface Measured {
  readonly size: number
  readonly hits: number
  readonly slices: ReadonlyArray<Slice>
  /** Milliseconds that one client alone waits. */
  readonly alone: number
}

/** A service of its own with as many assets, and what is read of them. */
const prepare = async (size: number, { load, say, settings }: Contest, keep: AsyncDisposableStack) => {
  const folder = join(settings.folder, `assets-${size}`)
  mkdirSync(folder)
  const database = keep.use(await Database.start(folder))
  const own = { ...settings, folder, database }
  // Waypost makes its tables.
  await (await waypost(own))[Symbol.asyncDispose]()
  await seedAssets(database.sql, size, (assets) => say(`${size} assets: ${assets} are there`))
  const service = keep.use(await waypost(own))
  return { size, service, reads: await readsOf(service, load.key, database.sql, size) }
}

const rate = (slices: ReadonlyArray<Slice>) => Math.round(median(slices.map(({ perSecond }) => perSecond)))
const latency = (slices: ReadonlyArray<Slice>, member: "p50" | "p99") => median(slices.map((slice) => slice[member]))

const cell = ({ alone, hits, size, slices }: Measured) =>
  `${size} assets, ${hits} found: ${rate(slices)} req/s, ` +
  `${latency(slices, "p50").toFixed(1)} / ${latency(slices, "p99").toFixed(1)} ms, alone ${alone.toFixed(1)} ms`

const figure = ({ isBounded, operation }: Read, measured: ReadonlyArray<Measured>): Figure => {
  const small = measured[0]!
  const large = measured.at(-1)!
  const p50s = ({ slices }: Measured) => slices.map(({ p50 }) => p50)
  const growth = median(p50s(large).map((p50, round) => p50 / small.slices[round]!.p50))
  return {
    name: operation.name,
    value: cell(large),
    comparedWith: "the same among fewer",
    other: cell(small),
    ratio: `p50 x ${ratioOf(p50s(large), p50s(small))}`,
    // What finds as many among more assets should not take longer.
    ...(isBounded && large !== small ? { target: `p50 x <= 2: ${verdict(growth <= 2)}` } : {})
  }
}

/** Reads of assets at several sizes at once: a slice at each in every round, so that a busy minute hits all of them. */
export const search = async (contest: Contest): Promise<ReadonlyArray<Figure>> => {
  const { load, rounds, say, sizes } = contest
  await using keep = new AsyncDisposableStack()
  const sides = []
  for (const size of sizes.toSorted((one, two) => one - two)) sides.push(await prepare(size, contest, keep))
  const figures: Array<Figure> = []
  for (const [index, read] of sides[0]!.reads.entries()) {
    const slices = sides.map((): Array<Slice> => [])
    const warmUp = { ...load, seconds: 1 }
    for (const side of sides) await run(side.service, side.reads[index]!.operation, warmUp)
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < sides.length; turn++) {
        const place = (round + turn) % sides.length
        const { reads, service } = sides[place]!
        slices[place]!.push(await run(service, reads[index]!.operation, load))
      }
    }
    const measured: Array<Measured> = []
    for (const [place, { reads, service, size }] of sides.entries()) {
      const { hits, operation } = reads[index]!
      const { p50: alone } = await run(service, operation, { ...warmUp, connections: 1 })
      measured.push({ size, hits, slices: slices[place]!, alone })
    }
    figures.push(figure(read, measured))
    say(`${read.operation.name}: ${measured.map(cell).join("; ")}`)
  }
  return figures
}
