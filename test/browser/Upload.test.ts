import { assert, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { mkdtempDisposable, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import sharp from "sharp"
import { afterAll, beforeAll } from "vitest"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"
import * as Backend from "./Backend.ts"
import { launch, open as openIn } from "./Browser.ts"

const cleanups: Array<() => unknown> = []
let service: Service.Service
let backend: Awaited<ReturnType<typeof Backend.serve>>
let browser: Browser

beforeAll(async () => {
  service = await Service.start()
  cleanups.unshift(() => service[Symbol.asyncDispose]())
  backend = await Backend.serve(service.url, service.key)
  cleanups.unshift(backend.stop)
  browser = await launch()
  cleanups.unshift(() => browser.close())
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

/** A photo of 12 MiB, twice as wide as high, padded with bytes after the end of the JPEG data. */
const photo = async () => {
  const scene = `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="800">
    <linearGradient id="sky" x2="0" y2="1"><stop stop-color="#f7b267"/><stop offset="1" stop-color="#f25c54"/></linearGradient>
    <rect width="1600" height="800" fill="url(#sky)"/><circle cx="1100" cy="420" r="140" fill="#ffe8a3"/>
    <path d="M0 620 380 300 760 640 1050 430 1600 700V800H0z" fill="#3d2c5e"/></svg>`
  const picture = await sharp(Buffer.from(scene)).jpeg().toBuffer()
  return Buffer.concat([picture, randomBytes(12 * 1024 * 1024 - picture.length)])
}

const open = () => openIn(browser, backend.url)

const settled = async (page: Page) => {
  await page.waitForSelector("main[data-state=done], main[data-state=failed]")
  return page.textContent("#status")
}

describe("uploads from a browser", () => {
  it("an upload page of another origin sends a large picture directly to the service and shows its thumbnail", async () => {
    const { problems, page } = await open()
    const puts: Array<string> = []
    page.on("request", (request) => void (request.method() === "PUT" && puts.push(new URL(request.url()).origin)))
    // The browser reads a file by its path; bytes would go to it as base64 through the page.
    await using folder = await mkdtempDisposable(join(tmpdir(), "waypost-upload-"))
    const file = join(folder.path, "Zonsondergang.jpg")
    await writeFile(file, await photo())
    await page.setInputFiles("input", file)
    assert.strictEqual(await settled(page), "Added to the library")
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(puts, [service.url, service.url])
    assert.strictEqual(await page.textContent("#name"), "Zonsondergang.jpg")
    assert.strictEqual(await page.textContent("#size"), "12.6 MB")
    // On a busy machine the first answers are an icon, which is a square.
    await until("the thumbnail has the proportions of the picture", async () => {
      const size = await page.evaluate<string>(`(async () => {
        const response = await fetch(document.images[0].src, { cache: "reload" })
        const { height, width } = await createImageBitmap(await response.blob())
        return width + "x" + height
      })()`)
      return size === "300x150"
    })
  })

  it("an upload page of another origin can show why the service rejected a part or a file", async () => {
    const { problems, page } = await open()
    const rejected = await page.evaluate<{ readonly status: number; readonly tag: string }>(
      `fetch("${service.url}/uploads/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30/1?signature=x", { method: "PUT", body: "x" })
        .then(async (response) => ({ status: response.status, tag: (await response.json())._tag }))`
    )
    assert.deepStrictEqual(rejected, { status: 403, tag: "InvalidAddressError" })
    await page.setInputFiles("input", { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<p>") })
    assert.match((await settled(page))!, /^Not added: .*text\/html/)
    for (const problem of problems) assert.notMatch(problem, /CORS/)
  })

  it("an upload page of another origin cannot use an API key", async () => {
    const { problems, page } = await open()
    const outcome = await page.evaluate<string>(
      `fetch("${service.url}/v1/me", { headers: { authorization: "${service.key}" } }).then(() => "answered", () => "blocked")`
    )
    assert.strictEqual(outcome, "blocked")
    assert.match(problems.join("\n"), /CORS/)
  })
})
