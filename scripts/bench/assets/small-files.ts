import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { writeDurably } from "./disk.ts"
import { type Figure, ratioOf } from "../figures.ts"
import { median } from "../report.ts"
import { ask, each, partOf, upload } from "./upload-client.ts"
import type { UploadContest } from "./upload-speed.ts"

const fileSize = 20_000
const parallel = 8

const perSecond = async (count: number, work: (index: number) => Promise<void>) => {
  const began = performance.now()
  await each(count, parallel, work)
  return (count / (performance.now() - began)) * 1000
}

/** Many small files made assets, against writing and flushing as many files. */
export const smallFiles = async (
  { folder, key, rounds, say, service }: UploadContest,
  count: number
): Promise<ReadonlyArray<Figure>> => {
  const own: Array<number> = []
  const disk: Array<number> = []
  const place = join(folder, "disk")
  for (let round = 0; round < rounds; round++) {
    own.push(
      await perSecond(count, async (index) => {
        const bytesOf = () => partOf(index, fileSize)
        const file = { fileName: `small-${round}-${index}.txt`, fileSize, parallel: 1, bytesOf }
        const { fileUuid } = await upload(service, key, file)
        await ask(service, key, "POST", "/v1/assets", { fileUuid })
      })
    )
    mkdirSync(place)
    disk.push(await perSecond(count, (index) => writeDurably(join(place, String(index)), partOf(index, fileSize))))
    rmSync(place, { recursive: true })
    say(`small files: round ${round + 1} of ${rounds}`)
  }
  const rate = (rates: ReadonlyArray<number>) => `${Math.round(median(rates))} files/s`
  return [
    {
      name: `${count} files of 20 kB made assets, ${parallel} at a time`,
      value: rate(own),
      comparedWith: "the disk itself, written and flushed",
      other: rate(disk),
      ratio: ratioOf(own, disk)
    }
  ]
}
