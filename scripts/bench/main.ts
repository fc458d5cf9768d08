import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { format } from "../../src/domain/keys/ApiKeySecret.ts"
import * as Database from "../../test/support/Databases.ts"
import type { Load } from "../../test/support/LoadClients.ts"
import { type Creation, createMany } from "./bulk.ts"
import { measure, type Measurement } from "./measure.ts"
import { make } from "../../test/support/Operations.ts"
import { options } from "./options.ts"
import { profile } from "./profile.ts"
import { median, report, type Starts } from "./report.ts"
import { untilAssessed } from "./scale/assessed.ts"
import { bare, fastify, type Service, type Settings, waypost } from "../../test/support/Services.ts"
import { sameAnswers, sameErrors, sameWrites } from "./verification.ts"

// Compares Waypost with a hand-written service on the same rows of the same PostgreSQL. Only ratios within one run are
// meaningful: clients, services and database share the machine.
const { connections, only, pool, profile: profiled, rounds, seconds, sizes } = options()
const folder = mkdtempSync(join(tmpdir(), "waypost-bench-"))
// PostgreSQL does not run as root; another user has to reach the folder.
chmodSync(folder, 0o755)

const key = format(crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(32))).key
const load: Load = { connections, seconds, key }
const say = (text: string) => process.stderr.write(`${text}\n`)

const settingsOf = (database: Database.Database): Settings => ({ database, key, pool, folder })

/** A database with rows; Waypost creates its tables. */
const prepare = async (size: number, keep: AsyncDisposableStack) => {
  const place = join(folder, String(size))
  mkdirSync(place)
  const database = keep.use(await Database.start(place))
  const settings = settingsOf(database)
  await (await waypost(settings))[Symbol.asyncDispose]()
  say(`${size} rows: seeding`)
  await Database.seed(database.sql, size)
  const uuids = await Database.uuids(database.sql, 4096)
  const rows = { uuids, brands: await Database.brands(database.sql, size) }
  return { database, settings, rows, operations: make(rows) }
}

const startTime = async (start: () => Promise<Service>) => {
  const times: Array<number> = []
  for (let attempt = 0; attempt < 3; attempt++) {
    await using service = await start()
    times.push(service.startTime)
  }
  return median(times)
}

const contest = async (size: number, measurements: Array<Measurement>, creations: Array<Creation>): Promise<Starts> => {
  await using keep = new AsyncDisposableStack()
  const { database, operations, rows, settings } = await prepare(size, keep)
  const { sql } = database
  {
    await using services = new AsyncDisposableStack()
    const own = services.use(await waypost(settings))
    const peer = services.use(await fastify(settings, { isEquipped: false }))
    const equipped = services.use(await fastify(settings, { isEquipped: true }))
    const all = [own, peer, equipped]
    await sameAnswers(all, key, rows)
    await sameErrors(all, key, rows.uuids[0]!)
    await sameWrites(all, key, sql)
    await untilAssessed({ size, sql }, say)
    await sql`vacuum (analyze) locations`
    say(`${size} rows: all services return the same responses`)
    const stack = services.use(await bare(settings))
    await sameAnswers([own, stack], key, rows)
    const sides = { waypost: own, fastify: peer, equipped, bare: stack, again: own }
    for (const name of only) {
      measurements.push(await measure({ size, services: sides, sql, rounds, load }, operations[name]))
    }
    if (only.includes("create")) {
      creations.push(...(await createMany({ size, services: sides, sql, rounds, load }, operations.create)))
    }
  }
  const peers = await startTime(() => fastify(settings, { isEquipped: false }))
  const running = await startTime(() => waypost(settings))
  await keep.disposeAsync()
  return { fastify: peers, running, withPostgres: await startTime(() => waypost(settings)) }
}

const compare = async () => {
  const measurements: Array<Measurement> = []
  const creations: Array<Creation> = []
  let starts: Starts | undefined
  for (const size of sizes) starts = await contest(size, measurements, creations)
  const conditions =
    `Node ${process.version}, ${availableParallelism()} shared cores, ${connections} clients, ` +
    `${pool} database connections each, fsync on, ${rounds} rounds of ${seconds} s.`
  return report(measurements, creations, starts!, conditions)
}

const inspect = async (name: NonNullable<typeof profiled>) => {
  await using keep = new AsyncDisposableStack()
  const { operations, settings } = await prepare(sizes[0]!, keep)
  return await profile(settings, operations[name], load)
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))

console.log(profiled === undefined ? await compare() : await inspect(profiled))
