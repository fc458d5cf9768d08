import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomBytes, randomInt } from "node:crypto"
import sharp from "sharp"
import { setTimeout as sleep } from "node:timers/promises"
import { createClient } from "../../src/client/promise/PromiseClient.ts"
import { type Installation, install } from "../support/Nodes.ts"
import { freePort, until } from "../support/Process.ts"
import { report } from "../support/proofs/Figures.ts"
import type { Service } from "../support/Service.ts"
import * as Proxy from "./Proxy.ts"

const images = 20
const requests = 4000
const clients = 16

/** The `Accept` headers of images in four browsers, and of a client that rejects WebP; the last two get none. */
const browsers = [
  "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
  "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
  "image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5",
  "image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5",
  "image/webp;q=0, image/png,*/*;q=0.5"
]

describe("deploy: a cache in front of files", () => {
  let installation: Installation
  let node: Service
  let nodePort: number
  let proxy: Proxy.Proxy
  let client: ReturnType<typeof createClient>

  beforeAll(async () => {
    installation = await install()
    nodePort = await freePort()
    proxy = await Proxy.start("cdn", await freePort(), [nodePort])
    await startNode()
    client = createClient({ url: node.url, key: node.key })
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await installation?.close()
  })

  const startNode = async () => {
    node = await installation.node({ PORT: String(nodePort), CDN_URL: proxy.url, LOG_LEVEL: "debug" })
  }

  /** Requests a file of the service from the cache. */
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}, method = "GET") => {
    const { pathname, search } = new URL(url)
    const answer = await proxy.send(method, pathname + search, undefined, headers)
    return { ...answer, cache: answer.headers["x-cache-status"] }
  }

  /** How many requests for files the service has answered, by its log; those of one status when it is given. */
  const answered = async (status = "\\d+") => {
    // The log is written after the answer.
    await sleep(500)
    return node.output().match(new RegExp(`GET /files/\\S+ ${status}\\b`, "g"))?.length ?? 0
  }

  const upload = async (name: string, bytes: Uint8Array<ArrayBuffer>, type: string) => {
    const { uuid } = await client.assets.upload(new File([bytes], name, { type }))
    return { uuid, ...(await client.assets.get(uuid)).urls }
  }
  const picture = async (number: number) =>
    new Uint8Array(
      await sharp({ create: { width: 400, height: 300, channels: 3, background: { r: number * 10, g: 90, b: 30 } } })
        .png()
        .toBuffer()
    )

  /** The address of a file that expires in some seconds, which the service signs only for days. */
  const expiring = async (url: string, seconds: number) => {
    const { pathname } = new URL(url)
    const path = pathname.slice("/files/".length)
    const expires = Math.floor(Date.now() / 1000) + seconds
    const [row] = await installation.sql`select waypost_sign(${`${path}?${expires}`}) as signature`
    return `${proxy.url}${pathname}?expires=${expires}&signature=${row!["signature"]}`
  }

  it("asks the service once for each file and each format of a thumbnail", { timeout: 120_000 }, async (context) => {
    const all = await Promise.all(
      Array.from({ length: images }, async (_, number) => upload(`${number}.png`, await picture(number), "image/png"))
    )
    for (const { thumbnail } of all)
      for (const accept of ["image/webp", "image/png"])
        await until("the thumbnail is made", async () =>
          (await fetch(thumbnail, { headers: { accept } })).headers.get("cache-control")!.includes("immutable")
        )
    const before = await answered()
    const types = new Set<string>()
    let hits = 0
    let sent = 0
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (sent < requests) {
          sent++
          const { cdnUrl, thumbnail } = all[randomInt(images)]!
          const browser = randomInt(browsers.length)
          const isThumbnail = sent % 2 === 0
          const { cache, headers, status } = await get(isThumbnail ? thumbnail : cdnUrl, { accept: browsers[browser]! })
          assert.strictEqual(status, 200)
          if (cache === "HIT") hits++
          if (isThumbnail) types.add(`${browser < 3} ${String(headers["content-type"])}`)
          else assert.strictEqual(headers["vary"], undefined)
        }
      })
    )
    const asked = (await answered()) - before
    await report(context, { requests, hits, "hit rate %": (100 * hits) / requests, "asked of the service": asked })
    assert.deepStrictEqual([...types].toSorted(), ["false image/jpeg", "true image/webp"])
    // The original, and the thumbnail in two formats.
    assert.strictEqual(asked, 3 * images)
    assert.isAtLeast(hits / requests, 0.95)
    assert.isTrue(all.every(({ cdnUrl }) => cdnUrl.startsWith(`${proxy.url}/files/`)))
  })

  it(
    "answers each range with its bytes, and reads only the pieces around it",
    { timeout: 120_000 },
    async (context) => {
      const megabyte = 1024 * 1024
      const film = new Uint8Array(randomBytes(24 * megabyte + 12_345))
      const { cdnUrl } = await upload("film.bin", film, "application/octet-stream")
      const before = await answered()
      const range = async (text: string, first: number, end: number, headers = {}) => {
        const { bytes, cache, headers: of, status } = await get(cdnUrl, { range: `bytes=${text}`, ...headers })
        assert.strictEqual(status, 206, text)
        assert.strictEqual(of["content-range"], `bytes ${first}-${end - 1}/${film.length}`)
        assert.isTrue(bytes.equals(film.subarray(first, end)), text)
        return { cache, etag: String(of["etag"]) }
      }
      const { etag } = await range("0-0", 0, 1)
      await range(`${10 * megabyte - 5}-${10 * megabyte + 4}`, 10 * megabyte - 5, 10 * megabyte + 5)
      await range("-100", film.length - 100, film.length)
      const pieces = (await answered()) - before
      assert.strictEqual((await range("5-9", 5, 10)).cache, "HIT")
      await range("3-9", 3, 10, { "if-range": etag })
      for (let turn = 0; turn < 200; turn++) {
        const first = randomInt(film.length)
        const end = Math.min(film.length, first + 1 + randomInt(3 * megabyte))
        await range(`${first}-${end - 1}`, first, end)
      }
      const changed = await get(cdnUrl, { range: "bytes=3-9", "if-range": `"other"` })
      assert.deepStrictEqual([changed.status, changed.bytes.equals(film)], [200, true])
      const asked = (await answered()) - before
      const whole = await get(cdnUrl)
      assert.isTrue(whole.bytes.equals(film))
      const beyond = await get(cdnUrl, { range: `bytes=${film.length}-` })
      assert.strictEqual(beyond.status, 416)
      const known = await get(cdnUrl, { "if-none-match": etag })
      assert.deepStrictEqual([known.status, known.bytes.length], [304, 0])
      const after = (await answered()) - before
      await report(context, { "pieces of 3 ranges": pieces, "asked for 206 ranges": asked, "asked for all": after })
      // The second range lies in two pieces.
      assert.strictEqual(pieces, 4)
      assert.isAtMost(asked, 25)
      assert.isAtMost(after, 26)
    }
  )

  it("refuses addresses that expired, were changed or have other parameters", { timeout: 60_000 }, async () => {
    const { original, thumbnail } = await upload("secret.png", await picture(3), "image/png")
    for (const url of [original, thumbnail]) {
      const brief = await expiring(url, 4)
      const first = await get(brief)
      assert.strictEqual(first.status, 200)
      assert.match(String(first.headers["cache-control"]), /max-age=[1-4], s-maxage=[1-4], stale-if-error=0|max-age=10/)
      assert.strictEqual((await get(brief)).cache, "HIT")
    }
    const brief = await expiring(original, 2)
    assert.strictEqual((await get(brief)).status, 200)
    await sleep(3100)
    for (const headers of [{}, { range: "bytes=0-9" }, { "if-none-match": "*" }]) {
      const expired = await get(brief, headers)
      assert.deepStrictEqual([expired.status, expired.body?._tag], [403, "InvalidAddressError"])
    }
    assert.strictEqual((await get(original)).status, 200)
    for (const [from, to] of [
      ["expires=1", "expires=2"],
      ["signature=", "signature=A"]
    ] as const) {
      assert.strictEqual((await get(original.replace(from, to))).status, 403)
    }
    for (const more of ["&x=1", "&expires=1"]) assert.strictEqual((await get(original + more)).status, 403)
    assert.strictEqual((await get(original, {}, "DELETE")).status, 403)
    assert.strictEqual((await get(`${proxy.url}/v1/locations`)).status, 404)
  })

  it("answers while the service is down, until the addresses expire", { timeout: 60_000 }, async () => {
    const { original } = await upload("kept.png", await picture(4), "image/png")
    const other = await upload("other.png", await picture(5), "image/png")
    const brief = await expiring(original, 3)
    for (const url of [original, brief]) assert.strictEqual((await get(url)).status, 200)
    await node.stop()
    await sleep(3100)
    assert.deepStrictEqual([(await get(original)).status, (await get(original)).cache], [200, "HIT"])
    assert.strictEqual((await get(brief)).status, 502)
    assert.strictEqual((await get(other.original)).status, 502)
    // After the hour in which a cache does not ask again.
    await using later = await ahead("+2h")
    const stale = await later.send("GET", path(original))
    assert.deepStrictEqual([stale.status, stale.headers["x-cache-status"]], [200, "STALE"])
    await startNode()
    const renewed = await later.send("GET", path(original))
    assert.deepStrictEqual([renewed.status, renewed.headers["x-cache-status"]], [200, "REVALIDATED"])
    assert.strictEqual(await answered("304"), 1)
  })

  it("drops a file within an hour after it was removed", { timeout: 60_000 }, async () => {
    const { original, uuid: asset } = await upload("removed.png", await picture(6), "image/png")
    assert.strictEqual((await get(original)).status, 200)
    const [uuid] = path(original).split("/").slice(2)
    await client.assets.delete(asset)
    await installation.sql`delete from files where uuid = ${uuid!}`
    assert.strictEqual((await fetch(original)).status, 404)
    await using later = await ahead("+61m")
    const removed = await later.send("GET", path(original))
    assert.deepStrictEqual([removed.status, removed.body?._tag], [404, "FileNotFoundError"])
  })

  const path = (url: string) => new URL(url).pathname + new URL(url).search

  /** A cache with the same content and a clock that is ahead. */
  const ahead = async (by: string) =>
    Proxy.start("cdn", await freePort(), [nodePort], { ahead: by, folder: proxy.folder })
})
