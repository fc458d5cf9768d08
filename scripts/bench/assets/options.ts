import { tmpdir } from "node:os"
import { commandLine } from "../command-line.ts"

const benchmarks = ["upload", "memory", "small", "search", "pictures"] as const
type Benchmark = (typeof benchmarks)[number]

export interface AssetOptions {
  readonly only: ReadonlyArray<Benchmark>
  readonly folder: string
  readonly rounds: number
  readonly gibibytes: number
  readonly memoryGibibytes: number
  readonly files: number
  readonly sizes: ReadonlyArray<number>
  readonly seconds: number
  readonly connections: number
  readonly photos: number
  /** After so many minutes the benchmark gives up. */
  readonly minutes: number
}

const usage = `npm run bench:assets -- [options]

  --only upload,search   which of ${benchmarks.join(", ")}
  --folder /mnt/disk     where the data goes, for some GiB; the disk that is measured
  --rounds 3             how often everything has its turn
  --gib 1                the size of the file whose upload is timed
  --memory-gib 2         the size of the file during which the memory is watched
  --files 500            how many small files
  --sizes 10000,100000   how many assets are searched
  --seconds 2            how long a turn of a search is
  --connections 32       how many clients search at once
  --photos 200           how many photos get thumbnails
  --minutes 40           when to give up`

const { number, oneOf, values: read } = commandLine(usage)
const benchmark = oneOf(benchmarks)

const definition = {
  only: { type: "string", default: benchmarks.join(",") },
  folder: { type: "string", default: tmpdir() },
  rounds: { type: "string", default: "3" },
  gib: { type: "string", default: "1" },
  "memory-gib": { type: "string", default: "2" },
  files: { type: "string", default: "500" },
  sizes: { type: "string", default: "10000,100000" },
  seconds: { type: "string", default: "2" },
  connections: { type: "string", default: "32" },
  photos: { type: "string", default: "200" },
  minutes: { type: "string", default: "40" }
} as const

export const assetOptions = (): AssetOptions => {
  const values = read(definition)
  return {
    only: values.only.split(",").map(benchmark),
    folder: values.folder,
    rounds: number(values.rounds, 100),
    // The largest file that the service takes by default.
    gibibytes: number(values.gib, 5),
    memoryGibibytes: number(values["memory-gib"], 5),
    files: number(values.files, 100_000),
    sizes: values.sizes.split(",").map((size) => number(size, 10_000_000)),
    seconds: number(values.seconds, 60),
    connections: number(values.connections, 500),
    photos: number(values.photos, 10_000),
    minutes: number(values.minutes, 24 * 60)
  }
}
