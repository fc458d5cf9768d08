import { commandLine } from "../command-line.ts"
import { type Kind, kinds } from "./cases.ts"
import { parts } from "./parts.ts"

const names = Object.keys(parts)

export interface ScaleOptions {
  readonly sizes: ReadonlyArray<number>
  /** The number of assets; as many as locations if absent. */
  readonly assets: number | undefined
  readonly only: ReadonlyArray<string>
  readonly kinds: ReadonlyArray<Kind>
  readonly rounds: number
  /** Where the data is kept; a temporary folder if absent. */
  readonly folder: string | undefined
  /** The time limit of the benchmark, in minutes. */
  readonly minutes: number
}

const usage = `npm run bench:scale -- [options]

  --sizes 1000,100000,1000000   numbers of locations
  --assets 1000000              number of assets, as many as locations by default; a tenth as many users, products and posts
  --only locations,search       parts out of ${names.join(", ")}
  --kinds "get,last page"       kinds out of ${kinds.join(", ")}
  --rounds 3                    turns of each size
  --folder /mnt/disk            keeps the data there for later runs; 6 GiB for a million
  --minutes 60                  time limit`

const { number, oneOf, values: read } = commandLine(usage)

const definition = {
  sizes: { type: "string", default: "1000,100000,1000000" },
  assets: { type: "string" },
  only: { type: "string", default: names.join(",") },
  kinds: { type: "string", default: kinds.join(",") },
  rounds: { type: "string", default: "3" },
  folder: { type: "string" },
  minutes: { type: "string", default: "60" }
} as const

export const scaleOptions = (): ScaleOptions => {
  const values = read(definition)
  return {
    sizes: values.sizes
      .split(",")
      .map((size) => number(size, 10_000_000))
      .toSorted((one, two) => one - two),
    assets: values.assets === undefined ? undefined : number(values.assets, 10_000_000),
    only: values.only.split(",").map(oneOf(names)),
    kinds: values.kinds.split(",").map(oneOf(kinds)),
    rounds: number(values.rounds, 100),
    folder: values.folder,
    minutes: number(values.minutes, 24 * 60)
  }
}
