import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser, Page } from "playwright-core"
import * as Service from "../support/Service.ts"
import { report } from "../support/proofs/Figures.ts"
import { launch, open, problemsOf } from "./Browser.ts"
import { until } from "../support/Until.ts"

const cleanups: Array<() => unknown> = []
let service: Service.Service
let browser: Browser
let shared: Page

beforeAll(async () => {
  service = await Service.start()
  cleanups.unshift(() => service[Symbol.asyncDispose]())
  browser = await launch()
  cleanups.unshift(() => browser.close())
  shared = (await visit("/healthz")).page
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

const visit = (path: string, options?: Parameters<typeof open>[2]) => open(browser, `${service.url}${path}`, options)

/** Shows an address in the page of the tests that store nothing in it: a profile of its own costs more than most of them. */
const read = async (path: string, width = 900, height = 760) => {
  await shared.setViewportSize({ width, height })
  const problems = problemsOf(shared)
  await shared.goto(`${service.url}${path}`)
  return { page: shared, problems }
}

const searchFor = async (page: Page, words: string) => {
  await page.keyboard.press("/")
  await page.fill("#search-dialog input", words)
  await page.waitForSelector("#search-dialog li a")
  return page.locator("#search-dialog li").evaluateAll((items) =>
    items.map((item) => {
      const link = item.firstElementChild
      return { href: link?.getAttribute("href") ?? "", title: link?.firstElementChild?.textContent ?? "" }
    })
  )
}

const background = (page: Page) => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")

describe("the documentation in a browser", () => {
  it("the first heading is visible after the page, one style sheet and one script", async (ctx) => {
    const times: Array<number> = []
    const { context, page, problems } = await visit("/healthz")
    for (const path of ["/docs", "/docs/errors", "/docs/reference/locations", "/docs", "/docs/reference/products"]) {
      const hold: Array<() => void> = []
      // Whatever else the page asks for waits until the heading is visible. A page with routes reads nothing from the cache.
      await page.route(/\/docs\/assets\/(?!docs\.css|theme\.js)/, async (route) => {
        await new Promise<void>((resolve) => void hold.push(resolve))
        await route.continue()
      })
      const begin = performance.now()
      await page.goto(`${service.url}${path}`, { waitUntil: "commit" })
      await page.waitForSelector("h1", { state: "visible" })
      times.push(performance.now() - begin)
      for (const resolve of hold) resolve()
      await page.unrouteAll({ behavior: "ignoreErrors" })
      await page.waitForLoadState()
      assert.deepStrictEqual(problems, [])
    }
    await context.close()
    const [, , median] = times.toSorted((a, b) => a - b)
    await report(ctx, { firstHeadingMillis: Math.round(median ?? 0) })
  })

  it("a second visit transfers no page, style sheet or script again", async () => {
    const { page } = await read("/docs/reference/locations")
    const statuses: Array<number> = []
    page.on("response", (response) => void statuses.push(response.status()))
    const client = await page.context().newCDPSession(page)
    let received = 0
    await client.send("Network.enable")
    client.on("Network.loadingFinished", ({ encodedDataLength }) => void (received += encodedDataLength))
    await page.reload({ waitUntil: "networkidle" })
    // Headers of 304 only.
    assert.isBelow(received, 6000)
    await client.detach()
  })

  it.each([
    ["locations", "List locations"],
    ["list locations", "List locations"],
    ["create location", "Create a new location"]
  ])("the search for %s finds the operation first", async (words, title) => {
    const { page } = await read("/docs")
    const [first] = await searchFor(page, words)
    assert.include(first?.title, title)
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/docs\/reference\/locations#/)
  })

  it("the search opens on the page of an operation with its name", async () => {
    const { page, problems } = await read("/docs/reference/assets")
    const [first] = await searchFor(page, "locations")
    assert.include(first?.title, "List locations")
    assert.deepStrictEqual(problems, [])
  })

  it("a request is sent from the reference where the browser blocks site data", async () => {
    const blocked = `for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, {
      get: () => { throw new DOMException("Access is denied", "SecurityError") }
    })`
    const { context, page, problems } = await open(browser, `${service.url}/docs/reference/locations`, {}, blocked)
    await page.click("#list .try > summary")
    await page.fill("#list [data-key]", service.key)
    await page.click("#list .try form > button")
    await page.waitForSelector("#list output .s2")
    // The script that runs before the page is painted found no storage.
    assert.deepStrictEqual(
      problems.filter((problem) => !problem.includes("Access is denied")),
      []
    )
    await context.close()
  })

  it("the search for filter, filtering, backup, upload and permissions finds a guide first", async () => {
    const { page } = await read("/docs/reference/users")
    for (const words of ["filter", "filtering", "backup", "upload", "permissions"]) {
      const [first] = await searchFor(page, words)
      assert.match(first?.href ?? "", /^\/docs\/(?!reference)/, words)
      await page.fill("#search-dialog input", "")
      await page.waitForSelector("#search-dialog li a", { state: "detached" })
    }
  })

  it("the reference begins with the locations, and the modules of products are folded", async () => {
    const { page } = await read("/docs")
    const resources = await page.locator("#side a[href^='/docs/reference/']").allTextContents()
    assert.strictEqual(resources[0], "Locations")
    const modules = page.locator("#side a[href$='-module']")
    assert.strictEqual(await modules.count(), 16)
    assert.isFalse(await modules.first().isVisible())
    await page.click("#side summary")
    await modules.first().click()
    await page.waitForURL(/-module$/)
    assert.isTrue(await page.locator("#side a[aria-current]").isVisible())
  })

  it("the documentation is dark where the system is, and in the theme that was chosen", async () => {
    const light = await visit("/docs", { colorScheme: "light" })
    const dark = await visit("/docs", { colorScheme: "dark" })
    const [white, black] = [await background(light.page), await background(dark.page)]
    assert.notStrictEqual(white, black)
    await light.page.click("#theme")
    assert.strictEqual(await background(light.page), black)
    await light.page.goto(`${service.url}/docs/errors`)
    assert.strictEqual(await background(light.page), black)
    await light.context.close()
    await dark.context.close()
  })

  it("sends only what the reader entered, also before the script of the form has loaded, and keeps the key in the tab", async () => {
    const { context, page, problems } = await visit("/docs/reference/locations")
    const form = page.locator("#list form")
    // The script of the forms arrives after the form was sent.
    const wasSent = Promise.withResolvers<void>()
    await page.route(/\/docs\/assets\/try\.js/, async (route) => {
      await wasSent.promise
      await route.continue()
    })
    await page.click("#list .try > summary")
    const fields = await form
      .locator("input")
      .evaluateAll((inputs) =>
        inputs.map((input) => ["value" in input && input.value, input.getAttribute("placeholder")])
      )
    assert.isNotEmpty(fields)
    for (const field of fields) assert.deepStrictEqual(field, ["", null])
    const sent = page.waitForRequest(/\/v1\/locations/)
    await form.locator("[data-key]").fill(service.key)
    await form.locator("button").click()
    wasSent.resolve()
    assert.strictEqual((await sent).url(), `${service.url}/v1/locations`)
    await page.waitForSelector("#list output .s2")
    assert.include(await form.locator("output pre").textContent(), '"pagination"')
    await page.reload()
    await page.click("#create .try > summary")
    await page.locator("#create textarea").fill('{ "name": "Bakkerij", "identifier": "DOC-1" }')
    // The script of the page fills the key in once it has loaded; its policy forbids `waitForFunction`.
    const filled = await until(
      "the key is filled in",
      async () => (await page.locator("#create [data-key]").inputValue()) || undefined
    )
    assert.strictEqual(filled, service.key)
    await page.click("#create form button")
    await page.waitForSelector("#create output .s2")
    assert.notInclude(JSON.stringify(await page.evaluate("localStorage")), service.key)
    assert.deepStrictEqual(problems, [])
    await context.close()
  })

  it("shows the events of the stream as they arrive, until it is stopped or asked for again", async () => {
    const { context, page, problems } = await visit("/docs/reference/events")
    const form = page.locator("#stream form")
    await page.click("#stream .try > summary")
    await form.locator("[data-key]").fill(service.key)
    const submit = form.locator(":scope > button")
    const stop = form.getByRole("button", { name: "Stop" })
    const followed = async (name: string) => {
      await submit.click()
      await stop.waitFor()
      await service.create("/v1/groups", { name })
      await until("the event is on the page", async () =>
        (await form.locator("output pre").textContent())?.includes(name) === true ? true : undefined
      )
    }
    await followed("Bakers")
    const first = page.waitForEvent("requestfailed")
    await followed("Butchers")
    assert.include((await first).url(), "/v1/events/stream")
    assert.notInclude(await form.locator("output pre").textContent(), "Bakers")
    const second = page.waitForEvent("requestfailed")
    await stop.click()
    assert.include((await second).url(), "/v1/events/stream")
    assert.strictEqual(await stop.count(), 0)
    assert.include(await form.locator("output pre").textContent(), "Butchers")
    const aborted = `GET ${service.url}/v1/events/stream net::ERR_ABORTED`
    assert.deepStrictEqual(problems, [aborted, aborted])
    await context.close()
  })

  it("every operation has samples with curl and with the typed client", async () => {
    // A profile of its own: the choice of samples is stored.
    const { context, page } = await visit("/docs/reference/locations")
    const sample = page.locator("#create .sample").first()
    assert.include(await sample.innerText(), 'curl "$URL/v1/locations"')
    await sample.getByRole("button", { name: "TypeScript" }).click()
    assert.include(await sample.innerText(), "locations.create(")
    assert.notInclude(await sample.innerText(), 'curl "')
    assert.strictEqual(
      await page.locator("section.operation").count(),
      await page.locator("[data-sample=ts].sample, div[data-sample=ts]").count()
    )
    await context.close()
  })

  it("no page is wider than a screen of 390 or 1280 pixels, and none reports an error", async () => {
    // Low, because what is below is only drawn.
    const height = 100
    let widths = [390, 1280]
    const { page, problems } = await read("/docs", widths[0], height)
    const paths = await page
      .locator("#side a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""))
    assert.isAbove(paths.length, 30)
    for (const path of ["/", ...paths]) {
      await page.goto(`${service.url}${path}`)
      for (const width of widths) {
        if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height })
        assert.isAtMost(await page.evaluate<number>("document.scrollingElement.scrollWidth"), width, path)
      }
      // The next page begins as wide as this one ended.
      widths = widths.toReversed()
    }
    assert.deepStrictEqual(problems, [])
  })

  it("the menu of a small screen opens and leads to a guide", async () => {
    const { page } = await read("/docs", 390, 844)
    const link = page.locator("#side a[href='/docs/errors']")
    assert.isFalse(await link.isVisible())
    await page.click("header label")
    await link.click()
    await page.waitForURL(/\/docs\/errors$/)
    assert.isFalse(await link.isVisible())
  })
})
