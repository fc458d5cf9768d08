import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { blackPng, svg } from "../support/MediaFixtures.ts"
import { report } from "../support/proofs/Figures.ts"
import { keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { callTo } from "../support/Service.ts"

const rounds = 3
const maxMillis = 3000

/** A drawing of 4 KB that takes far longer than the time limit of the renderer. */
const hostile = (number: number) =>
  svg(
    `<title>${number}</title><filter id="f">${'<feTurbulence numOctaves="500"/><feGaussianBlur stdDeviation="300"/>'.repeat(60)}</filter>
      <rect width="400" height="300" filter="url(#f)"/>`
  )

/** Uploads a file, creates an asset of it and returns the URL of its thumbnail. */
const createAsset = async ({ url }: Running.Running, key: string, fileName: string, bytes: Buffer) => {
  const call = callTo(url, key)
  const begun = await call("POST", "/v1/uploads/init-multi-part", { fileName, fileSize: bytes.length })
  const { parts, uuid } = begun.body.data
  const { headers } = await fetch(parts[0].url, { method: "PUT", body: new Uint8Array(bytes) })
  const sent = [{ partNumber: 1, eTag: headers.get("etag") }]
  const completed = await call("PUT", "/v1/uploads/complete-multi-part", { uuid, parts: sent })
  const created = await call("POST", "/v1/assets", { fileUuid: completed.body.data.fileUuid })
  assert.strictEqual(created.status, 201, created.text)
  const asset = await call("GET", `/v1/assets/${created.body.data.uuid}`)
  return asset.body.data.urls.thumbnail as string
}

/** Whether the answer is the thumbnail, and not the icon that stands for it until it is made. */
const isMade = async (thumbnail: string) => {
  const response = await fetch(thumbnail)
  await response.arrayBuffer()
  assert.strictEqual(response.status, 200)
  return response.headers.get("cache-control")!.includes("immutable")
}

describe("hostile drawings of one key", () => {
  for (const drawings of [3, 30]) {
    it(`${drawings} hostile drawings of one key delay the thumbnail of another key by less than 3 s`, async (ctx) => {
      await using running = await Running.start()
      const keys = ["create:uploads", "create:assets", "read:assets"] as const
      const [attacker, other] = [await keyWith(running, ...keys), await keyWith(running, ...keys)]
      const thumbnailOf = async (width: number) => {
        const thumbnail = await createAsset(running, other, "picture.png", blackPng({ width, height: 300 }))
        const began = performance.now()
        while (!(await isMade(thumbnail))) await sleep(50)
        return performance.now() - began
      }
      const alone = await thumbnailOf(400)
      const thumbnails: Array<string> = []
      for (let number = 0; number < drawings; number++)
        thumbnails.push(await createAsset(running, attacker, "drawing.svg", hostile(number)))
      const stopping = new AbortController()
      const attack = Promise.all(
        thumbnails.map(async (thumbnail) => {
          while (!stopping.signal.aborted) {
            assert.isFalse(await isMade(thumbnail))
            await sleep(500)
          }
        })
      )
      const during: Array<number> = []
      for (let round = 0; round < rounds; round++) {
        await sleep(1000)
        during.push(await thumbnailOf(401 + round))
      }
      stopping.abort()
      await attack
      await report(ctx, { "alone ms": alone, "during ms": during.map((millis) => millis.toFixed(0)).join(" ") })
      for (const millis of during) assert.isAtMost(millis, maxMillis)
    })
  }
})
