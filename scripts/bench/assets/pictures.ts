import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"
import sharp from "sharp"
import type { Figure } from "../figures.ts"
import { photo, resizeByHand } from "./photos.ts"
import { median, verdict } from "../report.ts"
import type { Service } from "../../../test/support/Services.ts"
import { ask, each, partSize, upload } from "./upload-client.ts"

/** So many different photos are made; the others are the same bytes in files of their own. */
const different = 8

/** Lists that are asked for every second while nothing else is. */
const listsPerSecond = 50

/** How long the background may take for a photo before the benchmark gives up, in milliseconds. */
const mostPerPhoto = 5000

/** Lists at a steady pace, whatever the answers take; a late start counts as waiting. */
const listTimes = async (service: Service, key: string, until: () => boolean) => {
  const times: Array<number> = []
  const answers: Array<Promise<unknown>> = []
  const began = performance.now()
  for (let number = 0; !until(); number++) {
    const due = began + (number * 1000) / listsPerSecond
    await sleep(Math.max(0, due - performance.now()))
    const answer = ask(service, key, "GET", "/v1/assets?limit=25")
    answers.push(answer.then(() => times.push(performance.now() - due)))
  }
  await Promise.all(answers)
  const sorted = times.toSorted((one, two) => one - two)
  return { p50: median(sorted), p99: sorted[Math.floor(sorted.length * 0.99)]! }
}

const byHand = async (photos: ReadonlyArray<Uint8Array>) => {
  const began = performance.now()
  for (const bytes of photos) await resizeByHand(bytes)
  return (photos.length / (performance.now() - began)) * 1000
}

const untilDrawn = async (sql: Sql, count: number) => {
  const began = performance.now()
  for (;;) {
    const [row] = await sql<Array<{ readonly ready: number; readonly failed: number }>>`
      select count(*) filter (where processing = 'ready')::int as ready,
        count(*) filter (where processing = 'failed')::int as failed from files where mime_type = 'image/jpeg'`
    if (row!.failed > 0) throw new Error(`${row!.failed} photos could not be drawn`)
    if (row!.ready === count) return
    if (performance.now() - began > count * mostPerPhoto) {
      throw new Error(`Only ${row!.ready} of ${count} photos were drawn in time`)
    }
    await sleep(50)
  }
}

export interface PictureContest {
  readonly service: Service
  readonly key: string
  readonly sql: Sql
  readonly say: (text: string) => void
}

/** How fast the background makes the pictures of photos, and what a list notices of it. */
export const pictures = async (
  { key, say, service, sql }: PictureContest,
  count: number
): Promise<ReadonlyArray<Figure>> => {
  // As the service does it: one thread for a photo.
  sharp.concurrency(1)
  const photos: Array<Buffer> = []
  while (photos.length < different) photos.push(await photo(photos.length))
  const files: Array<string> = []
  await each(count, 4, async (index) => {
    const bytes = photos[index % different]!
    const bytesOf = (part: number) => bytes.subarray(part * partSize, (part + 1) * partSize)
    const file = { fileName: `photo-${index}.jpg`, fileSize: bytes.length, parallel: 1, bytesOf }
    files.push((await upload(service, key, file)).fileUuid)
  })
  say(`pictures: ${count} photos of ${(photos[0]!.length / 1e6).toFixed(1)} MB are there`)

  const handRates = [await byHand(photos)]
  const quietEnd = performance.now() + 10_000
  const quiet = await listTimes(service, key, () => performance.now() > quietEnd)
  const began = performance.now()
  await each(count, 8, async (index) => {
    await ask(service, key, "POST", "/v1/assets", { fileUuid: files[index] })
  })
  let isDone = false
  const drawn = untilDrawn(sql, count).finally(() => (isDone = true))
  const meanwhile = await listTimes(service, key, () => isDone)
  await drawn
  const rate = (count / (performance.now() - began)) * 1000
  handRates.push(await byHand(photos))
  const hand = median(handRates)
  const shown = ({ p50, p99 }: typeof quiet) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`
  return [
    {
      name: `thumbnail and preview of ${count} photos of 12 megapixels`,
      value: `${rate.toFixed(2)} photos/s`,
      comparedWith: "the library alone, one thread",
      other: `${hand.toFixed(2)} photos/s`,
      ratio: (rate / hand).toFixed(2)
    },
    {
      name: `list meanwhile, ${listsPerSecond} a second, p50 / p99`,
      value: shown(meanwhile),
      comparedWith: "the same before",
      other: shown(quiet),
      ratio: `p99 x ${(meanwhile.p99 / quiet.p99).toFixed(2)}`,
      target: `p99 x <= 2: ${verdict(meanwhile.p99 / quiet.p99 <= 2)}`
    }
  ]
}
