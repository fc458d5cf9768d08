import { rmSync } from "node:fs"
import { join } from "node:path"
import { storageKey } from "../../../src/domain/assets/File.ts"
import { diskTimes } from "./disk.ts"
import { type Figure, ratioOf } from "../figures.ts"
import { median } from "../report.ts"
import type { Service } from "../../../test/support/Services.ts"
import { partOf, partSize, type Times, upload } from "./upload-client.ts"

export interface UploadContest {
  readonly service: Service
  readonly key: string
  /** The data folder of the service; the disk is measured in it as well. */
  readonly folder: string
  readonly rounds: number
  readonly say: (text: string) => void
}

/** Takes the bytes of a file away, so that rounds do not fill the disk. */
export const forget = (folder: string, fileUuid: string): void =>
  rmSync(join(folder, "files", "objects", storageKey(fileUuid)))

const gib = 1024 ** 3

const throughput = (times: ReadonlyArray<number>, size: number) =>
  `${Math.round(size / 1e6 / (median(times) / 1000))} MB/s`

const figures = (name: string, size: number, own: ReadonlyArray<Times>, disk: ReadonlyArray<Times>) => {
  const stages: ReadonlyArray<readonly [string, (times: Times) => number]> = [
    ["its parts", ({ parts }) => parts],
    ["its completion", ({ completion }) => completion],
    ["all of it", ({ completion, parts }) => parts + completion]
  ]
  return stages.map(([stage, timeOf]): Figure => {
    const [ownTimes, diskTimes] = [own.map(timeOf), disk.map(timeOf)]
    return {
      name: `${name}: ${stage}`,
      value: throughput(ownTimes, size),
      comparedWith: "the disk itself",
      other: throughput(diskTimes, size),
      ratio: ratioOf(diskTimes, ownTimes)
    }
  })
}

/** How fast a large file comes in, in parts of 8 MiB, against what the disk does with the same bytes by itself. */
export const uploadSpeed = async (
  { folder, key, rounds, say, service }: UploadContest,
  gibibytes: number
): Promise<ReadonlyArray<Figure>> => {
  const fileSize = gibibytes * gib
  const parts = fileSize / partSize
  const through = async (parallel: number) => {
    const file = { fileName: "large.bin", fileSize, parallel, bytesOf: (part: number) => partOf(part) }
    const { fileUuid, ...times } = await upload(service, key, file)
    forget(folder, fileUuid)
    return times
  }
  const result: Array<Figure> = []
  for (const parallel of [1, 4]) {
    const own: Array<Times> = []
    const disk: Array<Times> = []
    const turns = [
      async () => own.push(await through(parallel)),
      async () => disk.push(await diskTimes(folder, parts, parallel, (part) => partOf(part)))
    ]
    for (let round = 0; round < rounds; round++) {
      await turns[round % 2]!()
      await turns[(round + 1) % 2]!()
      say(`upload with ${parallel} at a time: round ${round + 1} of ${rounds}`)
    }
    result.push(...figures(`upload of ${gibibytes} GiB, ${parallel} at a time`, fileSize, own, disk))
  }
  return result
}
