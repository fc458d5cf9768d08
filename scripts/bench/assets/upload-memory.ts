import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Figure } from "../figures.ts"
import { median, verdict } from "../report.ts"
import type { Service } from "../../../test/support/Services.ts"
import { partOf, partSize, upload } from "./upload-client.ts"
import { forget, type UploadContest } from "./upload-speed.ts"

/** How much more memory the service may take while a file passes through, in MB. */
const mostRise = 150

const sampled = async <A>(service: Service, work: () => Promise<A>) => {
  const samples: Array<number> = []
  const timer = setInterval(() => samples.push(service.memory()), 100)
  try {
    return { result: await work(), samples }
  } finally {
    clearInterval(timer)
  }
}

const download = async (url: string) => {
  const hash = createHash("sha256")
  const response = await fetch(url)
  assert.equal(response.status, 200)
  for await (const chunk of response.body!) hash.update(chunk as Uint8Array)
  return hash.digest("hex")
}

/** A large file up and down again, and what memory the process of the service has meanwhile. */
export const uploadMemory = async (
  { folder, key, say, service }: UploadContest,
  gibibytes: number
): Promise<{ readonly figures: ReadonlyArray<Figure>; readonly isFlat: boolean }> => {
  const fileSize = gibibytes * 1024 ** 3
  const hash = createHash("sha256")
  for (let part = 0; part < fileSize / partSize; part++) hash.update(partOf(part))
  const sha256 = hash.digest("hex")

  const idle = median((await sampled(service, () => sleep(2000))).samples)
  assert.ok(idle > 0, "The memory of a process cannot be read here")
  const file = { fileName: "large.bin", fileSize, parallel: 4, bytesOf: (part: number) => partOf(part), sha256 }
  const up = await sampled(service, () => upload(service, key, file))
  say("memory: the file is there")
  const down = await sampled(service, () => download(up.result.url))
  assert.equal(down.result, sha256, "The download is not what was uploaded")
  forget(folder, up.result.fileUuid)

  const figure = (name: string, samples: ReadonlyArray<number>): Figure => {
    const peak = Math.max(...samples)
    return {
      name: `memory while ${gibibytes} GiB ${name}`,
      value: `${Math.round(peak)} MB at most, of ${samples.length} samples`,
      comparedWith: "the idle process",
      other: `${Math.round(idle)} MB`,
      ratio: `+${Math.round(peak - idle)} MB`,
      target: `<= ${mostRise} MB more: ${verdict(peak - idle <= mostRise)}`
    }
  }
  return {
    figures: [figure("come in", up.samples), figure("go out", down.samples)],
    isFlat: Math.max(...up.samples, ...down.samples) - idle <= mostRise
  }
}
