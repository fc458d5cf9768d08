import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { format } from "../../../src/domain/keys/ApiKeySecret.ts"
import { assetOptions } from "./options.ts"
import { search } from "./search.ts"
import * as Database from "../../../test/support/Databases.ts"
import { type Figure, figuresTable } from "../figures.ts"
import { pictures } from "./pictures.ts"
import { type Settings, waypost } from "../../../test/support/Services.ts"
import { smallFiles } from "./small-files.ts"
import { uploadMemory } from "./upload-memory.ts"
import { uploadSpeed } from "./upload-speed.ts"

// Measures uploads, search and pictures, each against something of the same run: the disk, fewer assets, a quiet minute.
const options = assetOptions()
const { connections, only, photos, rounds, seconds } = options
const root = mkdtempSync(join(options.folder, "waypost-bench-"))
// PostgreSQL does not run as root; another user has to reach the folder.
chmodSync(root, 0o755)

const key = format(crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(32))).key
const say = (text: string) => process.stderr.write(`${text}\n`)
const common: Omit<Settings, "database"> = { key, pool: 10, folder: root }

/** A fresh service on an empty folder, gone with all its files afterwards. */
const withService = async <A>(
  name: string,
  use: (contest: Parameters<typeof uploadSpeed>[0] & Parameters<typeof pictures>[0]) => Promise<A>
): Promise<A> => {
  const folder = join(root, name)
  mkdirSync(folder)
  try {
    await using keep = new AsyncDisposableStack()
    const database = keep.use(await Database.start(folder))
    const service = keep.use(await waypost({ ...common, folder, database }))
    return await use({ service, key, folder, rounds, say, sql: database.sql })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const benchmarks: Readonly<Record<(typeof only)[number], () => Promise<ReadonlyArray<Figure>>>> = {
  upload: () => withService("upload", (contest) => uploadSpeed(contest, options.gibibytes)),
  memory: () =>
    withService("memory", async (contest) => {
      const { figures, isFlat } = await uploadMemory(contest, options.memoryGibibytes)
      if (!isFlat) process.exitCode = 1
      return figures
    }),
  small: () => withService("small", (contest) => smallFiles(contest, options.files)),
  search: () => search({ sizes: options.sizes, rounds, load: { connections, seconds, key }, settings: common, say }),
  pictures: () => withService("pictures", (contest) => pictures(contest, photos))
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
process.once("exit", () => rmSync(root, { recursive: true, force: true }))
setTimeout(() => {
  say(`Not done after ${options.minutes} minutes`)
  process.exit(1)
}, options.minutes * 60_000).unref()

const figures: Array<Figure> = []
for (const name of only) figures.push(...(await benchmarks[name]()))
console.log(
  [
    "# Uploads, search and pictures",
    `Node ${process.version}, ${availableParallelism()} cores for everything, fsync on, ${rounds} rounds; medians, and of ` +
      `ratios their range. Searches: ${connections} clients at once for ${seconds} s, p50 / p99; alone is one client's p50.`,
    figuresTable(figures)
  ].join("\n\n")
)
