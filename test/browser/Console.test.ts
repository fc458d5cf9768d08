import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Browser, Page } from "playwright-core"
import sharp from "sharp"
import writeXlsx from "write-excel-file/node"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"
import { launch, open } from "./Browser.ts"
import * as Visits from "./ConsoleVisits.ts"
import { endKey, isOwn, readAgain, reject, rejectTwice } from "./ConsoleVisits.ts"

const cleanups: Array<() => unknown> = []
let service: Service.Service
let sql: Running.Running["sql"]
let browser: Browser
let bakery: string

const location = (index: number, more: object = {}) => ({
  name: `Bakkerij ${index}`,
  identifier: `UTR-${String(index).padStart(3, "0")}`,
  coordinates: { latitude: 52 + index / 100, longitude: 5 + index / 100 },
  ...more
})

beforeAll(async () => {
  const running = await Running.start()
  cleanups.unshift(() => running[Symbol.asyncDispose]())
  ;({ service, sql } = running)
  bakery = await service.create(
    "/v1/locations",
    location(0, {
      name: "Bakkerij De Vries",
      contact: { phone: "+31 30 111 11 11" },
      address: { city: "Utrecht", countryCode: "NL" }
    })
  )
  for (let index = 1; index < 30; index++) await service.create("/v1/locations", location(index))
  await service.create("/v1/meta-tags", {
    key: "season",
    filterable: true,
    type: "select",
    translations: [{ locale: "en-GB", name: "Season" }],
    options: [
      { key: "spring", translations: [{ locale: "en-GB", label: "Spring" }] },
      { key: "autumn", translations: [{ locale: "en-GB", label: "Autumn" }] }
    ]
  })
  browser = await launch()
  cleanups.unshift(() => browser.close())
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

const visit = (path: string, options?: Visits.Options) => Visits.visit({ browser, service }, path, options)

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")

/** What makes a page hard to use with a keyboard or a screen reader. */
const barriers = async (page: Page) => {
  await page.evaluate(axe)
  return page.evaluate<ReadonlyArray<string>>(`axe.run(document, { resultTypes: ["violations"] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`)
}

describe("the console in a browser", () => {
  it("rejects an unknown key with a message, and keeps a valid one for the tab only", async () => {
    const { context, page } = await open(browser, `${service.url}/console`)
    await page.getByLabel("API key").fill(`wp_${"x".repeat(22)}_${"x".repeat(49)}`)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("alert").filter({ hasText: "does not accept this key" }).waitFor()
    await page.getByLabel("API key").fill(service.key)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Start" }).waitFor()
    const kept = await page.evaluate<unknown>(`[sessionStorage.length > 0, localStorage.getItem("waypost-key")]`)
    assert.deepStrictEqual(kept, [true, null])
    assert.notInclude(page.url(), "wp_")
    await context.close()
  })

  it("loads at most 350 kB before the first screen, all of it from the service", async (ctx) => {
    const { context, page, problems } = await visit("")
    const client = await context.newCDPSession(page)
    let received = 0
    const hosts = new Set<string>()
    await client.send("Network.enable")
    await client.send("Network.setCacheDisabled", { cacheDisabled: true })
    client.on("Network.loadingFinished", ({ encodedDataLength }) => void (received += encodedDataLength))
    page.on("request", (request) => void hosts.add(new URL(request.url()).origin))
    const began = performance.now()
    await page.reload({ waitUntil: "load" })
    await page.getByRole("link", { name: /30\s*Locations/ }).waitFor()
    await report(ctx, { kilobytes: Math.round(received / 1000), millis: Math.round(performance.now() - began) })
    assert.isBelow(received, 350_000)
    assert.deepStrictEqual([...hosts], [service.url])
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await context.close()
  })

  it("a phone number is corrected, and the history shows it before and after", async () => {
    const { leave, page } = await visit("/locations?filter=name:contains:Vries")
    await page.getByRole("link", { name: "Bakkerij De Vries" }).click()
    await page.getByRole("link", { name: "Edit" }).click()
    const phone = page.getByLabel("Phone")
    await phone.fill("not a number!")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator(".field[data-invalid=true]").filter({ has: phone }).waitFor()
    assert.strictEqual(await phone.inputValue(), "not a number!")
    await phone.fill("+31 30 222 22 22")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("+31 30 222 22 22").waitFor()
    const { body } = await service.call("GET", `/v1/locations/${bakery}`)
    assert.strictEqual(body.data.contact.phone, "+31 30 222 22 22")
    assert.deepStrictEqual(body.data.address, { city: "Utrecht", countryCode: "NL" })
    await page.getByRole("link", { name: "History" }).click()
    await page.getByRole("row", { name: "Phone +31 30 111 11 11 +31 30 222 22 22" }).waitFor()
    await leave()
  })

  it("a change that is not sealed yet is in the history that is shown once it is", async () => {
    const uuid = await service.create("/v1/locations", { name: "Slagerij Jansen", identifier: "UTR-JANSEN" })
    const history = `/v1/locations/${uuid}/history`
    await until("the creation is sealed", async () => (await service.call("GET", history)).body.data.length === 1)
    const log = await sql.reserve()
    await log`begin`
    await log`select from event_log for update`
    await service.call("PATCH", `/v1/locations/${uuid}`, { name: "Slagerij De Jong" })
    const { leave, page } = await visit("")
    const committed = Promise.withResolvers<void>()
    let reads = 0
    // The console reads again thirty times.
    await page.route(/\/history\?/, async (route) => {
      if (++reads > 1) await committed.promise
      await route.continue()
    })
    await page.goto(`${service.url}/console/locations/${uuid}/history`)
    await page.locator(".history li").first().waitFor()
    assert.strictEqual(await page.locator(".history li").count(), 1)
    await log`commit`
    log.release()
    committed.resolve()
    await page.getByRole("row", { name: "Name Slagerij Jansen Slagerij De Jong" }).waitFor()
    await leave()
  })

  it("a form warns when another client changed the record, and keeps what was typed", async () => {
    const { leave, page } = await visit(`/locations/${bakery}/edit`)
    const name = page.locator("#root_name")
    await name.fill("Bakkerij De Vries & Zn")
    await service.call("PATCH", `/v1/locations/${bakery}`, { address: { city: "Zeist" } })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Another client changed this record").waitFor()
    assert.strictEqual(await name.inputValue(), "Bakkerij De Vries & Zn")
    await page.getByRole("button", { name: "Save mine anyway" }).click()
    await page.getByRole("heading", { name: "Bakkerij De Vries & Zn" }).waitFor()
    const { body } = await service.call("GET", `/v1/locations/${bakery}`)
    assert.strictEqual(body.data.address.city, "Zeist")
    await leave()
  })

  it("a filter built by clicking is in the address, which shows a colleague the same records, and a new order leaves the focus where it is", async () => {
    const { leave, page } = await visit("/locations")
    await page.getByText("Add filter").click()
    await page.getByRole("combobox", { name: "Field" }).selectOption("identifier")
    await page.getByRole("combobox", { name: "Condition" }).selectOption("startsWith")
    await page.getByRole("textbox", { name: "Value" }).fill("UTR-02")
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("10 of 10").waitFor()
    assert.strictEqual(await page.title(), "Locations – Waypost")
    await page.getByRole("button", { name: /^Identifier/ }).press("Enter")
    await page.locator("th[aria-sort=ascending]", { hasText: "Identifier" }).waitFor()
    await page.locator("table[aria-busy=false]").waitFor()
    assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "Identifier ↑")
    const address = new URL(page.url())
    await leave()
    const colleague = await visit(`/locations${address.search}`)
    await colleague.page.getByText("10 of 10").waitFor()
    assert.strictEqual(await colleague.page.getByRole("link", { name: /^Bakkerij 2\d$/ }).count(), 10)
    await colleague.leave()
  })

  it("a filter by a date holds for the day of the browser, and shows this day", async () => {
    await service.create("/v1/posts", {
      type: "news",
      publishAt: "2996-05-01T12:00:00.000Z",
      translations: [{ locale: "en-GB", title: "In May" }]
    })
    const { leave, page } = await visit("/posts", { timezoneId: "Pacific/Auckland" })
    await page.getByText("Add filter").click()
    await page.getByRole("combobox", { name: "Field" }).selectOption("publishAt")
    const operators = await page.getByRole("combobox", { name: "Condition" }).locator("option").allTextContents()
    assert.deepStrictEqual(operators, ["is", "after", "on or after", "before", "on or before", "has a value"])
    await page.getByLabel("Value", { exact: true }).fill("2996-05-02")
    await page.getByRole("button", { name: "Apply" }).click()
    const chip = page.locator(".chip")
    await chip.getByText("Publish at is May 2, 2996").waitFor()
    assert.strictEqual(await chip.count(), 1)
    await page.getByText("1 of 1").waitFor()
    await page.getByRole("link", { name: "In May" }).waitFor()
    await page.getByRole("button", { name: "Remove the filter Publish at is May 2, 2996" }).click()
    await chip.waitFor({ state: "detached" })
    assert.notInclude(page.url(), "filter")
    await leave()
  })

  it("the branches within a radius of a place are listed, the nearest first", async () => {
    const { leave, page, problems } = await visit("/locations?view=map")
    await page.waitForSelector(".map[data-places='30']")
    await page.getByPlaceholder("52.09,5.12").fill("52.10,5.10")
    await page.keyboard.press("Enter")
    await page.locator(".nearest a").first().waitFor()
    const field = page.getByPlaceholder("52.09,5.12")
    assert.strictEqual(await page.evaluate("document.activeElement.placeholder"), "52.09,5.12")
    const entries = await page.evaluate("history.length")
    await field.blur()
    assert.strictEqual(await page.evaluate("history.length"), entries)
    await page.getByLabel("Radius").selectOption("5")
    await page.getByText(/^\d+ within 5 km$/).waitFor()
    const names = await page.locator(".nearest a").allTextContents()
    assert.strictEqual(names[0], "Bakkerij 10")
    assert.isAbove(names.length, 2)
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await leave()
  })

  it("locations that are open now are shown, in the table and on the map", async () => {
    const always = Array.from({ length: 7 }, (_, day) => ({ day: day + 1, opens: "00:00", closes: "24:00" }))
    await service.call("PATCH", `/v1/locations/${bakery}`, { timezone: "Europe/Amsterdam", openingHours: always })
    const { leave, page } = await visit("/locations")
    await page.getByLabel("Open now").check()
    await page.getByText("1 of 1").waitFor()
    await page.getByRole("link", { name: /^Bakkerij De Vries/ }).waitFor()
    await page.getByRole("button", { name: "Map" }).click()
    await page.waitForSelector(".map[data-places='1']")
    assert.include(page.url(), "openAt=now")
    await leave()
  })

  it("chosen records are changed and deleted at once, and a deleted one is restored", async () => {
    const uuid = await service.create("/v1/locations", location(40, { name: "Tijdelijk 40" }))
    await service.create("/v1/locations", location(41, { name: "Tijdelijk 41" }))
    const { leave, page } = await visit("/locations?filter=name:startsWith:Tijdelijk")
    await page.getByLabel("Select all that are loaded").check()
    await page.getByRole("button", { name: "Edit selected" }).click()
    await page.getByRole("dialog").locator("#root_locale").fill("nl-NL")
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click()
    await page.getByText("2 records changed").waitFor()
    await page.getByRole("cell", { name: "nl-NL" }).first().waitFor()
    await page.getByLabel("Select Tijdelijk 40").check()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("1 record deleted").waitFor()
    await page.getByText("1 of 1").waitFor()
    await page.goto(`${service.url}/console/locations/${uuid}`)
    await page.getByRole("button", { name: "Restore" }).first().click()
    await page.getByRole("heading", { name: "Tijdelijk 40" }).waitFor()
    const { body: restored } = await service.call("GET", "/v1/locations?filter=name:startsWith:Tijdelijk")
    assert.deepStrictEqual(
      restored.data.map(({ locale }: { readonly locale: string }) => locale),
      ["nl-NL", "nl-NL"]
    )
    await leave()
  })

  it("a deleted record says so, that it can be restored to a key that can, and after that what is not restored", async () => {
    const group = await service.create("/v1/groups", { name: "Verdwenen" })
    const uuid = await service.create("/v1/locations", { name: "Half terug", identifier: "UTR-HALF" })
    await service.call("PUT", `/v1/groups/${group}/locations`, { locations: [uuid] })
    await service.call("DELETE", `/v1/locations/${uuid}`)
    await service.call("DELETE", `/v1/groups/${group}`)
    const { body: reader } = await service.call("POST", "/v1/api-keys", {
      name: "Looker",
      permissions: ["read:locations"]
    })
    const looked = await visit(`/locations/${uuid}`, { key: reader.data.key })
    await looked.page.getByText("This record was deleted. Its history is below.").waitFor()
    assert.strictEqual(await looked.page.getByText("Restoring brings it back.").count(), 0)
    // The erasure is a later change, which does not bring the record back.
    const erased = await service.create("/v1/locations", { ...location(70), contact: { phone: "+31 30 111 11 11" } })
    await service.call("DELETE", `/v1/locations/${erased}`)
    await service.call("POST", `/v1/locations/${erased}/erase-history`, { paths: ["contact.phone"] })
    const history = `/v1/locations/${erased}/history?order=desc`
    await until("the erasure is in the log", async () => (await service.call("GET", history)).body.data.length === 3)
    await looked.page.goto(`${service.url}/console/locations/${erased}`)
    await looked.page.getByText("This record was deleted. Its history is below.").waitFor()
    await looked.leave()
    const { leave, page } = await visit(`/locations/${uuid}`)
    await page.getByText("Restoring brings it back.").waitFor()
    await page.getByRole("button", { name: "Restore" }).first().click()
    await page.getByText("Restored in part. Not restored: groups 1").waitFor()
    await page.getByRole("heading", { name: "Half terug" }).waitFor()
    const { body } = await service.call("GET", `/v1/locations/${uuid}?include=groups`)
    assert.deepStrictEqual([body.data.name, body.data.groups], ["Half terug", []])
    await leave()
  })

  it("ten pictures that are chosen are uploaded with a meta tag, and shown as tiles, in a table and with all of their details", async () => {
    const picture = (index: number) =>
      sharp({ create: { width: 200, height: 150, channels: 3, background: { r: index * 20, g: 90, b: 160 } } })
        .png()
        .toBuffer()
    const files = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => ({
        name: `etalage-${index}.png`,
        mimeType: "image/png",
        buffer: await picture(index)
      }))
    )
    const { leave, page, problems } = await visit("/assets")
    await page.getByText("Category and meta tags of new files").click()
    await page.getByLabel("Season").selectOption("spring")
    await page.getByLabel("Drop files here").setInputFiles(files)
    await page.getByText("10 files uploaded").waitFor()
    const { body: tagged } = await service.call("GET", "/v1/assets?filter=metaTags.season:equals:spring&limit=1")
    assert.strictEqual(tagged.pagination.total, 10)
    await page.getByRole("link", { name: "etalage-7" }).waitFor()
    const shown = "[...document.querySelectorAll('.grid img')].filter(({ naturalWidth }) => naturalWidth > 0).length"
    await until("ten thumbnails are shown", async () => (await page.evaluate<number>(shown)) === 10)
    await page.getByRole("button", { name: "Table" }).click()
    await page.getByRole("columnheader", { name: "Width" }).waitFor()
    await page
      .getByRole("row", { name: /etalage-7/ })
      .getByRole("cell", { name: "200", exact: true })
      .waitFor()
    await page.getByRole("link", { name: "etalage-7", exact: true }).click()
    await page.getByText("image/png").waitFor()
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await leave()
  })

  it("a table whose next rows fail to be read, or all of them again, keeps its rows and shows the failure", async () => {
    const operations = Array.from({ length: 120 }, (_, index) => ({ op: "create", data: { name: `Regio ${index}` } }))
    await service.call("POST", "/v1/groups/bulk", { operations })
    const { leave, page } = await visit("")
    const next = /\/v1\/groups\?.*after=\w/
    let reads = 0
    page.on("request", (request) => void (next.test(request.url()) && reads++))
    await reject(page, next)
    await page.goto(`${service.url}/console/groups?filter=name:startsWith:Regio&sort=name`)
    const failure = page.getByRole("alert").filter({ hasText: "Rejected by the test" })
    const row = page.getByRole("link", { name: "Regio 1", exact: true })
    await page.getByText("100 of 120").waitFor()
    await row.waitFor()
    await page.evaluate("document.querySelector('.scroller').scrollTo(0, 1e6)")
    await failure.waitFor()
    await page.getByText("100 of 120").waitFor()
    assert.strictEqual(reads, 1)
    await page.unrouteAll()
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("120 of 120").waitFor()
    await failure.waitFor({ state: "detached" })
    await page.evaluate("document.querySelector('.scroller').scrollTo(0, 0)")
    await page.getByLabel("Select Regio 10", { exact: true }).check()
    await reject(page, /\/v1\/groups\?/)
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await failure.waitFor()
    assert.isTrue(await row.isVisible())
    await leave()
  })

  it("a history that fails to be read again keeps its changes and shows the failure", async () => {
    const uuid = await service.create("/v1/locations", { name: "Slagerij Smit", identifier: "UTR-SMIT" })
    await service.call("PATCH", `/v1/locations/${uuid}`, { name: "Slagerij Smid" })
    const { leave, page } = await visit(`/locations/${uuid}/history`)
    const change = page.getByRole("row", { name: "Name Slagerij Smit Slagerij Smid" })
    await change.waitFor()
    await reject(page, /\/history\?/)
    await page.getByRole("button", { name: "Restore" }).click()
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    assert.isTrue(await change.isVisible())
    await leave()
  })

  it("a form whose record fails to be read again, also because the key ended, keeps what was typed and shows the failure", async () => {
    const { context, page } = await visit(`/locations/${bakery}/edit`)
    const phone = page.getByLabel("Phone")
    await phone.fill("+31 30 444 44 44")
    await reject(page, new RegExp(`/v1/locations/${bakery}$`))
    await readAgain(page)
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    assert.strictEqual(await phone.inputValue(), "+31 30 444 44 44")
    await endKey(page, new RegExp(`/v1/locations/${bakery}$`), "GET")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("The key is no longer accepted").waitFor()
    assert.strictEqual(await phone.inputValue(), "+31 30 444 44 44")
    await page.unrouteAll()
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("alert").waitFor({ state: "detached" })
    assert.strictEqual(await phone.inputValue(), "+31 30 444 44 44")
    await context.close()
  })

  it("a map whose places fail to be read is shown once they are", async () => {
    const { leave, page } = await visit("")
    await reject(page, /\/v1\/locations\?.*coordinates/)
    await page.goto(`${service.url}/console/locations?view=map`)
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    await page.unrouteAll()
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("alert").waitFor({ state: "detached" })
    await page.waitForSelector(".map[data-places] canvas")
    assert.isAbove(Number(await page.locator(".map").getAttribute("data-places")), 0)
    await leave()
  })

  it("tiles that fail to be read again stay, with the failure and the place for new files", async () => {
    const { leave, page } = await visit("/assets")
    const upload = (name: string) =>
      page
        .getByLabel("Drop files here")
        .setInputFiles({ name: `${name}.txt`, mimeType: "text/plain", buffer: Buffer.from(name) })
    await upload("menukaart")
    await page.getByRole("link", { name: "menukaart" }).waitFor()
    await reject(page, /\/v1\/assets\?/)
    await upload("prijslijst")
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    assert.isTrue(await page.getByRole("link", { name: "menukaart" }).isVisible())
    assert.isTrue(await page.getByLabel("Drop files here").isVisible())
    await leave()
  })

  it("a spreadsheet is compared before anything is written, compared again with other columns, and then applied", async () => {
    const rows = [
      ["Nummer", "Naam", "Plaats", "Land", "Telefoon"],
      ["UTR-001", "Bakkerij Een", "Utrecht", "Nederland", "030 231 45 67"],
      [],
      ["BER-001", "Bäckerei Berlin", "Berlin", "Duitsland", "030 1234567"]
    ].map((row) => row.map((value) => ({ value })))
    const { toBuffer } = writeXlsx(rows)
    const { leave, page } = await visit("/import")
    await page.getByLabel("Drop files here").setInputFiles({
      name: "winkels.xlsx",
      mimeType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      buffer: await toBuffer()
    })
    const city = page.getByLabel("Member of the record: Plaats")
    await city.selectOption("")
    // What is chosen while the rows are compared would not be used.
    await page.route(/\/v1\/plans\?/, async (route) => {
      await city.and(page.locator(":disabled")).waitFor()
      await route.continue()
    })
    await page.getByRole("button", { name: "Compare" }).click()
    await page.getByText("1 to create").waitFor()
    await page.unrouteAll()
    await page.getByRole("button", { name: "Change the columns" }).click()
    assert.strictEqual(await city.inputValue(), "")
    await city.selectOption("address.city")
    await page.getByRole("button", { name: "Compare" }).click()
    await page.getByText("1 to create").waitFor()
    await page.getByText("1 to change").waitFor()
    await page.getByRole("row", { name: "Row 4 BER-001 to create" }).waitFor()
    assert.strictEqual(
      (await service.call("GET", "/v1/locations?filter=identifier:equals:BER-001")).body.data.length,
      0
    )
    const shown = page.locator("#content").getByRole("link", { name: "Show Locations" })
    assert.strictEqual(await shown.count(), 0)
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("The import is applied.").waitFor()
    await shown.click()
    await page.getByRole("heading", { name: "Locations", level: 1 }).waitFor()
    const { body } = await service.call("GET", "/v1/locations?filter=identifier:equals:BER-001")
    assert.deepStrictEqual(body.data[0].address, { city: "Berlin", countryCode: "DE" })
    assert.strictEqual(body.data[0].contact.phone, "+49 30 1234567")
    await leave()
  })

  it("the secret of a new key is shown once, with the chosen permissions", async () => {
    const { leave, page } = await visit("/api-keys/new")
    await page.getByLabel("Name").fill("Website")
    await page.getByLabel("read:locations").check()
    await page.getByLabel("read:assets").check()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("This secret is shown once").waitFor()
    const secret = (await page.locator(".secret").textContent())!
    const me = await Service.callTo(service.url, secret)("GET", "/v1/me")
    assert.sameMembers(me.body.data.permissions, ["read:assets", "read:locations"])
    await page.getByRole("link", { name: "Details" }).click()
    await page.getByRole("heading", { name: "Website" }).waitFor()
    assert.notInclude(await page.locator("#content").textContent(), secret)
    await leave()
  })

  it("a meta tag of an asset is set and removed, and a choice stays when the key has ended", async () => {
    const { body } = await service.call("GET", "/v1/assets?limit=1")
    const asset = `/v1/assets/${body.data[0].uuid}`
    const { leave, page } = await visit(`/assets/${body.data[0].uuid}/meta-tags`)
    await endKey(page, /\/meta-tags$/, "PATCH")
    await page.getByLabel("Season").selectOption("autumn")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("The key is no longer accepted").waitFor()
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    assert.strictEqual(await page.getByLabel("Season").inputValue(), "autumn")
    await page.unroute(/\/meta-tags$/)
    // What is typed while it is saved would be lost.
    await page.route(/\/meta-tags$/, async (route) => {
      if (route.request().method() === "PATCH") await page.locator("fieldset:disabled").getByLabel("Season").waitFor()
      await route.continue()
    })
    for (const [choice, tags] of [
      ["autumn", [["season", "autumn"]]],
      ["", []]
    ] as const) {
      await page.getByLabel("Season").selectOption(choice)
      const saved = page.waitForResponse((response) => response.request().method() === "PATCH")
      await page.getByRole("button", { name: "Save" }).click()
      assert.strictEqual((await saved).status(), 200)
      // The form has read the meta tags again.
      await page.getByText("Saved").waitFor()
      const saying = page.getByRole("status").getByRole("paragraph").filter({ hasText: "Saved" })
      await saying.getByRole("button", { name: "Close" }).click()
      await page.getByText("Saved").waitFor({ state: "detached" })
      const { body: read } = await service.call("GET", `${asset}/meta-tags`)
      assert.deepStrictEqual(
        read.data.map(({ key, value }: { readonly key: string; readonly value: unknown }) => [key, value]),
        tags
      )
    }
    await leave()
  })

  it("the inputs of meta tags offer what the service accepts: options in use, values that can change, and times of the browser", async () => {
    const name = (text: string) => [{ locale: "en-GB", name: text }]
    const options = (inactive: ReadonlyArray<string>) =>
      ["studio", "archive", "stock"].map((key) => ({ key, active: !inactive.includes(key) }))
    const tags = [
      { key: "origin", type: "select", translations: name("Origin"), options: options(["stock"]) },
      { key: "owner", type: "text", translations: name("Owner"), editable: false },
      { key: "taken", type: "dateTime", translations: name("Taken at") }
    ]
    const [origin, ...others] = await Promise.all(tags.map((tag) => service.create("/v1/meta-tags", tag)))
    const { body } = await service.call("GET", "/v1/assets?limit=1")
    const path = `/v1/assets/${body.data[0].uuid}/meta-tags`
    const metaTags = [
      { key: "origin", value: "archive" },
      { key: "taken", value: "2026-05-01T12:00:07.000Z" }
    ]
    await service.call("PATCH", path, { metaTags })
    await service.call("PATCH", `/v1/meta-tags/${origin}`, { options: options(["archive", "stock"]) })
    const { leave, page } = await visit(`/assets/${body.data[0].uuid}/meta-tags`, { timezoneId: "Pacific/Auckland" })
    const offered = page.getByLabel("Origin").locator("option")
    await offered.first().waitFor({ state: "attached" })
    assert.deepStrictEqual(await offered.allTextContents(), ["Choose…", "studio", "archive"])
    assert.isTrue(await page.getByLabel("Owner").isDisabled())
    const taken = page.getByLabel("Taken at")
    assert.strictEqual(await taken.inputValue(), "2026-05-02T00:00:07")
    await taken.fill("2026-05-02T09:30")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    const { body: read } = await service.call("GET", path)
    const value = read.data.find(({ key }: { readonly key: string }) => key === "taken").value
    assert.strictEqual(value, "2026-05-01T21:30:00.000Z")
    await leave()
    for (const uuid of [origin, ...others]) await service.call("DELETE", `/v1/meta-tags/${uuid}`)
  })

  it("why a user cannot see a product is explained, with the record that decides", async () => {
    const user = await service.create("/v1/users", {
      username: "sanne",
      email: "sanne@example.com",
      firstName: "Sanne",
      lastName: "Bakker"
    })
    const product = await service.create("/v1/products", { type: "default", identifier: "FLY-A5", name: "Flyer A5" })
    const { leave, page } = await visit(`/access?product=${product}`)
    await page.getByRole("button", { name: /^user/ }).click()
    await page.getByRole("dialog").getByLabel("Search").fill("sann")
    await page.getByRole("dialog").getByRole("button", { name: "sanne" }).click()
    await page.getByRole("heading", { name: "It is not seen." }).waitFor()
    assert.include(page.url(), user)
    await page.getByRole("row", { name: /denies.*draft/ }).waitFor()
    await page.getByRole("table").getByRole("link", { name: "Flyer A5" }).first().click()
    await page.getByRole("heading", { name: "Flyer A5" }).waitFor()
    await leave()
  })

  it("a module of a product is activated, changed and, after a question, deactivated", async () => {
    const product = await service.create("/v1/products", { type: "default", identifier: "POS-A2", name: "Poster A2" })
    const { leave, page } = await visit(`/products/${product}/modules?module=price`)
    const module = async () => (await service.call("GET", `/v1/products/${product}/modules/price`)).body.data
    await page.getByRole("button", { name: "Activate" }).click()
    await page.getByLabel("Model").selectOption("fixed")
    const amount = page.getByLabel("Amount minor")
    await amount.fill("1250")
    await service.call("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor: 1200 })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Another client changed this record").waitFor()
    assert.strictEqual((await module()).amountMinor, 1200)
    assert.strictEqual(await amount.inputValue(), "1250")
    await page.getByRole("button", { name: "Save mine anyway" }).click()
    await page.locator(".notices").getByText("Saved").waitFor()
    assert.include(await module(), { model: "fixed", amountMinor: 1250 })
    await amount.fill("1350")
    await service.call("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor: 1300 })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Another client changed this record").waitFor()
    await amount.fill("1450")
    await page.getByRole("button", { name: "Save mine anyway" }).click()
    await until("the amount is saved", async () => (await module()).amountMinor === 1450)
    await page.getByRole("button", { name: "Deactivate" }).click()
    const question = page.getByRole("dialog", { name: "Deactivate Price?" })
    await question.getByText("Its values are deleted, and what you typed is lost.").waitFor()
    assert.strictEqual((await module()).amountMinor, 1450)
    await question.getByRole("button", { name: "Deactivate" }).click()
    await page.getByText("Not active").waitFor()
    assert.isUndefined(await module())
    await leave()
  })

  it("the cover and the author of a post are chosen by their names, and a preview shows the post in each language", async () => {
    const author = await service.create("/v1/users", { username: "jan", email: "jan@example.com" })
    const { body: assets } = await service.call("GET", "/v1/assets?limit=1&sortBy=name&sortOrder=asc")
    const [cover] = assets.data
    const post = await service.create("/v1/posts", {
      type: "news",
      translations: [
        {
          locale: "en-GB",
          title: "Spring campaign",
          excerpt: "From March",
          body: "<p>All <b>branches</b></p><script>x</script>"
        },
        { locale: "nl-NL", title: "Lentecampagne", body: "<p>Alle filialen</p>" }
      ]
    })
    const { leave, page, problems } = await visit(`/posts/${post}/edit`)
    await page.getByLabel("Cover asset").click()
    await page.getByRole("dialog").getByLabel("Search").fill(cover.translations[0].name)
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: cover.translations[0].name }).click()
    await page.getByLabel(/^user/).click()
    await page.getByRole("dialog").getByRole("button", { name: "jan", exact: true }).click()
    await page.getByRole("link", { name: "jan" }).waitFor()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    await page.getByRole("link", { name: "Preview" }).click()
    await page.getByRole("heading", { name: "Spring campaign", level: 2 }).waitFor()
    await page.locator("article b", { hasText: "branches" }).waitFor()
    await until("the cover is shown", () => page.evaluate("document.querySelector('.cover')?.naturalWidth > 0"))
    await page.getByLabel("Locale").selectOption("nl-NL")
    await page.getByText("Alle filialen").waitFor()
    const { body } = await service.call("GET", `/v1/posts/${post}`)
    assert.deepStrictEqual([body.data.coverAssetUuid, body.data.author.uuid], [cover.uuid, author])
    // A record is named in the language of the console.
    await page.getByRole("heading", { name: "Spring campaign", level: 1 }).waitFor()
    await page.getByLabel("Language").selectOption("nl")
    await page.getByRole("heading", { name: "Lentecampagne", level: 1 }).waitFor()
    assert.deepStrictEqual(await barriers(page), [])
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await leave()
  })

  it("the schedule shows when posts are published and archived, the next first", async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    for (const [title, times] of [
      ["Summer", { publishAt: inDays(20), expireAt: inDays(40) }],
      ["Sale", { publishAt: inDays(10) }]
    ] as const) {
      await service.create("/v1/posts", {
        type: "news",
        status: "scheduled",
        translations: [{ locale: "en-GB", title }],
        ...times
      })
    }
    const { leave, page } = await visit("/posts")
    await page.getByRole("button", { name: "Schedule" }).click()
    await page.getByRole("row").filter({ hasText: "Sale" }).waitFor()
    const rows = await page.getByRole("row").allTextContents()
    assert.deepStrictEqual(
      rows.map((row) => row.replace(/^.*?(Sale|Summer)/, "$1")),
      ["Saleis published", "Summeris published", "Summeris archived"]
    )
    const isPart = page.getByText("More posts are planned than are shown here.")
    assert.strictEqual(await isPart.count(), 0)
    await page.route(/\/v1\/posts\?.*publishAt/, async (route) => {
      const response = await route.fetch()
      const { data } = await response.json()
      await route.fulfill({ response, json: { _tag: "Success", data, pagination: { next: "more" } } })
    })
    await page.reload()
    await isPart.waitFor()
    await leave()
  })

  it("lists name records in the language of the console, whichever translation is the first", async () => {
    const names = [
      ["de-DE", "Neues Rezept"],
      ["en-GB", "New recipe"],
      ["nl-NL", "Nieuw recept"]
    ] as const
    await service.create("/v1/asset-categories", {
      key: "recipe",
      translations: names.map(([locale, name]) => ({ locale, name }))
    })
    await service.create("/v1/posts", {
      type: "news",
      status: "scheduled",
      publishAt: "2999-01-01T00:00:00.000Z",
      translations: names.map(([locale, title]) => ({ locale, title }))
    })
    const { leave, page, problems } = await visit("/posts")
    for (const path of ["/posts", "/posts?view=schedule", "/asset-categories"]) {
      await page.goto(`${service.url}/console${path}`)
      await page.getByLabel("Language").selectOption("nl")
      await page.getByRole("link", { name: "Nieuw recept" }).waitFor()
      await page.locator("#navigation").getByLabel("Taal").selectOption("en")
      await page.getByRole("link", { name: "New recipe" }).waitFor()
    }
    await page.goto(`${service.url}/console/access`)
    await page.getByRole("button", { name: /^post/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "New recipe" }).waitFor()
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await leave()
  })

  it("the variants of a product are a matrix, in which a missing one is created", async () => {
    const product = await service.create("/v1/products", { type: "variantParent", identifier: "TEE", name: "T-shirt" })
    const option = (key: string, name: string, values: ReadonlyArray<string>) => ({
      key,
      translations: [{ locale: "en-GB", name }],
      position: 0,
      values: values.map((value, position) => ({
        key: value.toLowerCase(),
        translations: [{ locale: "en-GB", label: value }],
        position
      }))
    })
    await service.call("PUT", `/v1/products/${product}/modules/variants`, {
      options: [
        option("colour", "Colour", ["Red", "Blue"]),
        { ...option("size", "Size", ["S", "M", "L"]), position: 1 }
      ]
    })
    const chosen = [
      { option: "colour", value: "red" },
      { option: "size", value: "m" }
    ]
    await service.create("/v1/products", {
      type: "variant",
      parentUuid: product,
      identifier: "TEE-RED-M",
      name: "Red M",
      optionValues: chosen
    })
    const { leave, page } = await visit(`/products/${product}/modules?module=variants`)
    await page.getByText("1 of 6 combinations have a variant.").waitFor()
    await page.getByRole("row", { name: "Red" }).getByRole("link", { name: "TEE-RED-M" }).waitFor()
    await page.getByRole("link", { name: "Create the variant Blue, L" }).click()
    await page.getByLabel("Identifier").fill("TEE-BLUE-L")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "Blue, L" }).waitFor()
    await page.goto(`${service.url}/console/products/${product}/modules?module=variants`)
    await page.getByText("2 of 6 combinations have a variant.").waitFor()
    const row = page.getByRole("row", { name: "Blue" })
    await row.getByRole("link", { name: "TEE-BLUE-L" }).waitFor()
    assert.strictEqual(await row.getByRole("link", { name: "Create the variant" }).count(), 2)

    await service.call("PUT", `/v1/products/${product}/modules/price`, { model: "fixed", amountMinor: 1200 })
    await service.call("PUT", `/v1/products/${product}/modules/internal-comment`, { comment: "Only inside" })
    const [variant] = (await service.call("GET", "/v1/products?filter=identifier:equals:TEE-RED-M")).body.data
    const modules = (name: string) =>
      page.goto(`${service.url}/console/products/${variant.uuid}/modules?module=${name}`)
    await modules("price")
    await page.getByText("Saving gives this product values of its own").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Deactivate" }).count(), 0)
    assert.strictEqual(await page.getByRole("button", { name: "Variants" }).count(), 0)
    // A variant has this module from its parent only.
    await modules("internal-comment")
    await page.getByRole("link", { name: "From the parent." }).waitFor()
    await page.getByText("Only inside").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Save" }).count(), 0)
    await modules("socials")
    await page.getByText("Not active").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Activate" }).count(), 0)
    await page.goto(`${service.url}/console/products/${variant.uuid}/modules?module=price`)
    await page.getByRole("link", { name: "From the parent." }).click()
    await page.waitForURL(`**/products/${product}/modules?module=price`)
    await leave()
  })

  /** A variant with a price of its own, whose parent has another one. */
  const pricedVariant = async (identifier: string) => {
    const parent = await service.create("/v1/products", { type: "variantParent", identifier, name: identifier })
    await service.call("PUT", `/v1/products/${parent}/modules/variants`, {
      options: [{ key: "size", values: [{ key: "s" }] }]
    })
    const variant = await service.create("/v1/products", {
      type: "variant",
      parentUuid: parent,
      identifier: `${identifier}-S`,
      name: `${identifier} S`,
      optionValues: [{ option: "size", value: "s" }]
    })
    await service.call("PUT", `/v1/products/${parent}/modules/price`, { model: "fixed", amountMinor: 1200 })
    await service.call("PUT", `/v1/products/${variant}/modules/price`, { model: "fixed", amountMinor: 900 })
    return variant
  }

  it("a variant whose module is deactivated shows the values of its parent", async () => {
    const variant = await pricedVariant("CAP")
    const { leave, page } = await visit(`/products/${variant}/modules?module=price`)
    const amount = page.getByLabel("Amount minor")
    await amount.waitFor()
    assert.strictEqual(await amount.inputValue(), "900")
    await page.getByRole("button", { name: "Deactivate" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click()
    await page.locator(".notices").getByText("Deactivated").waitFor()
    await page.getByRole("link", { name: "From the parent." }).waitFor()
    assert.strictEqual(await amount.inputValue(), "1200")
    await leave()
  })

  it("a key that only reads products sees their values and those of their modules without a form", async () => {
    const variant = await pricedVariant("BAG")
    await service.call("DELETE", `/v1/products/${variant}/modules/price`)
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Prices", permissions: ["read:products"] })
    const { leave, page } = await visit(`/products/${variant}/modules?module=price`, { key: body.data.key })
    await page.getByRole("link", { name: "From the parent." }).waitFor()
    await page.getByText("1,200").waitFor()
    assert.strictEqual(await page.getByText("Saving gives this product values of its own").count(), 0)
    assert.strictEqual(await page.getByRole("button", { name: "Save" }).count(), 0)
    await page.goto(`${service.url}/console/products/${variant}/edit`)
    await page.locator("#content").getByText("BAG-S").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Save" }).count(), 0)
    assert.strictEqual(await page.getByRole("link", { name: "Details" }).getAttribute("aria-current"), "page")
    await leave()
  })

  it("a record is found, corrected and saved with the keyboard alone", async () => {
    const { context, page } = await open(browser, `${service.url}/console`, { viewport: { width: 1280, height: 800 } })
    const focused = `(() => {
      const element = document.activeElement
      return (element?.labels?.[0]?.textContent ?? element?.getAttribute("aria-label") ?? element?.textContent ?? "").trim()
    })()`
    /** Presses Tab until what has the name has the focus, and its outline is visible. */
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 150; presses++) {
        await page.keyboard.press("Tab")
        if ((await page.evaluate(focused)) !== name) continue
        const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")
        assert.notStrictEqual(outline, "none", name)
        return
      }
      assert.fail(`${name} has no focus after 150 times Tab`)
    }
    await page.getByLabel("API key").waitFor()
    await tabTo("API key")
    await page.keyboard.type(service.key)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Start" }).waitFor()
    await tabTo("Locations")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Locations" }).waitFor()
    await page.getByRole("link", { name: "Bakkerij 25" }).waitFor()
    await tabTo("Bakkerij 25")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Bakkerij 25" }).waitFor()
    await tabTo("Edit")
    await page.keyboard.press("Enter")
    await page.locator("#root_name").waitFor()
    await tabTo("Name")
    await page.keyboard.press("End")
    await page.keyboard.type(" Centrum")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Bakkerij 25 Centrum" }).waitFor()
    await context.close()
  })

  it.each(["", "/locations", "/locations?view=map", "/assets"])(
    "the screen %s has no barriers at 3,840 pixels, and no line of text that is wider than people read",
    async (path) => {
      const { leave, page, problems } = await visit(path, { width: 3840 })
      await page.waitForLoadState("networkidle")
      assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), 3840)
      const widths = "[...document.querySelectorAll('#content p')].map((text) => text.getBoundingClientRect().width)"
      for (const width of await page.evaluate<ReadonlyArray<number>>(widths)) assert.isAtMost(width, 1200)
      assert.deepStrictEqual(await barriers(page), [])
      assert.deepStrictEqual(problems.filter(isOwn), [])
      await leave()
    }
  )

  it("members of a group are added by a part of their name, also after a failure and a change by another client, and removed", async () => {
    const group = await service.create("/v1/groups", { name: "Utrecht" })
    const { leave, page } = await visit(`/groups/${group}/locations`)
    await page.getByRole("button", { name: "Add" }).click()
    await page.getByRole("dialog").getByLabel("Search").fill("Bakkerij 1")
    await page.getByRole("dialog").getByLabel("Bakkerij 10").check()
    await page.getByRole("dialog").getByLabel("Bakkerij 11").check()
    await rejectTwice(page, new RegExp(`/v1/groups/${group}/locations$`))
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click()
    await page.getByRole("dialog").getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    const questions: Array<string> = []
    page.once("dialog", (dialog) => {
      questions.push(dialog.message())
      void dialog.dismiss()
    })
    await page.keyboard.press("Escape")
    await until("the question is asked", async () => questions.length === 1)
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click()
    await page.getByText("2 of 2").waitFor()
    await page.getByRole("button", { name: "Remove Bakkerij 10" }).click()
    await page.getByText("1 of 1").waitFor()
    const { body } = await service.call("GET", `/v1/groups/${group}/locations`)
    assert.deepStrictEqual(
      body.data.map(({ name }: { readonly name: string }) => name),
      ["Bakkerij 11"]
    )
    // A replacement has at most 10,000 records.
    await page.route(new RegExp(`/v1/groups/${group}/locations\\?`), async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      await route.fulfill({ response, json: { ...answer, pagination: { ...answer.pagination, total: 10_001 } } })
    })
    await page.reload()
    const replaced = page.waitForRequest((request) => request.method() === "PUT")
    await page.getByRole("button", { name: "Remove Bakkerij 11" }).click()
    assert.match((await replaced).url(), /\/v1\/locations\/[^/]+\/groups$/)
    await page.getByRole("button", { name: "Remove Bakkerij 11" }).waitFor({ state: "detached" })
    const after = await service.call("GET", `/v1/groups/${group}/locations`)
    assert.deepStrictEqual(after.body.data, [])
    await leave()
  })

  it("a change by another client appears in the activity as it is committed", async () => {
    const { leave, page } = await visit("/events")
    await service.call("PATCH", `/v1/locations/${bakery}`, { contact: { phone: "+31 30 333 33 33" } })
    await page.getByText("+31 30 333 33 33").waitFor()
    assert.include(await page.locator(".events li").first().textContent(), "+31 30 333 33 33")
    await leave()
  })

  it("changes are in the activity once, also those that were made while it was not live", async () => {
    const { leave, page } = await visit("/events")
    const live = page.getByLabel("Live")
    const created = (name: string) => page.locator(".events li", { hasText: name })
    await page.locator(".events li").first().waitFor()
    await service.create("/v1/groups", { name: "Live one" })
    await created("Live one").waitFor()
    await live.uncheck()
    await service.create("/v1/groups", { name: "Live two" })
    await live.check()
    await created("Live two").waitFor()
    assert.strictEqual(await created("Live one").count(), 1)
    await reject(page, /\/v1\/events\?.*wait=/)
    await live.uncheck()
    // The rejection can come before `check` would see that the box is checked.
    await live.click()
    await page.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    assert.isFalse(await live.isChecked())
    await page.unrouteAll()
    await service.create("/v1/groups", { name: "Live three" })
    await page.getByRole("button", { name: "Try again" }).click()
    await created("Live three").waitFor()
    assert.isTrue(await live.isChecked())
    assert.strictEqual(await created("Live two").count(), 1)
    await leave()
  })

  it("of more changes than the activity keeps, none is missing or repeated once more are shown", async () => {
    const { leave, page } = await visit("/events")
    await page.locator(".events li").first().waitFor()
    const names = Array.from({ length: 600 }, (_, index) => `Stroom ${index}`)
    const operations = names.map((name) => ({ op: "create", data: { name } }))
    await service.call("POST", "/v1/groups/bulk", { operations })
    const shown = page.locator(".events a", { hasText: "Stroom" })
    await page.getByRole("link", { name: "Stroom 599", exact: true }).waitFor()
    assert.isBelow(await shown.count(), 600)
    await until("all are shown", async () => {
      await page.getByRole("button", { name: "Show more" }).click()
      return (await shown.count()) >= 600
    })
    assert.deepStrictEqual(await shown.allTextContents(), names.toReversed())
    await leave()
  })

  it("the first change of a log that was empty appears in the activity", async () => {
    const { leave, page } = await visit("")
    const { body } = await service.call("GET", "/v1/events?limit=1&order=desc")
    const [{ cursor }] = body.data
    await page.route(/\/v1\/events\?.*order=desc/, (route) =>
      route.fulfill({ json: { _tag: "Success", data: [], cursor, more: false } })
    )
    await page.goto(`${service.url}/console/events`)
    await page.getByText("No change is recorded.").waitFor()
    await service.create("/v1/groups", { name: "First of all" })
    await page.locator(".events li", { hasText: "First of all" }).waitFor()
    assert.strictEqual(await page.locator(".events li").count(), 1)
    await leave()
  })

  it("a screen that fails to load offers to load the page again, and is gone at the next one", async () => {
    const { leave, page } = await visit("")
    await page.route(/\/EventsPage-/, (route) => route.abort())
    await page.getByRole("link", { name: "Activity" }).click()
    await page.getByRole("alert").filter({ hasText: "This part of the console cannot be loaded." }).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Try again" }).count(), 0)
    await page.locator("#navigation").getByRole("link", { name: "Groups" }).click()
    await page.getByRole("heading", { name: "Groups" }).waitFor()
    assert.strictEqual(await page.getByRole("alert").count(), 0)
    await page.unrouteAll()
    await page.getByRole("link", { name: "Activity" }).click()
    await page.getByRole("button", { name: "Reload" }).click()
    await page.getByRole("heading", { name: "Activity" }).waitFor()
    await leave()
  })

  it("a start page that could not be read shows the failure, and does not say that nothing needs attention", async () => {
    const { leave, page } = await visit("/groups")
    await reject(page, /\/v1\/(?:locations\/quality|events|groups)\?/)
    await page.goto(`${service.url}/console`)
    await page.getByRole("link", { name: /–\s*Groups/ }).waitFor()
    const failures = page.getByRole("alert").filter({ hasText: "Rejected by the test" })
    await until("each part shows its failure", async () => (await failures.count()) === 3)
    assert.strictEqual(await page.getByText("Nothing needs attention.").count(), 0)
    await page.unrouteAll()
    await page.getByRole("region", { name: "Needs attention" }).getByRole("button", { name: "Try again" }).click()
    await page.getByRole("region", { name: "Needs attention" }).getByRole("alert").waitFor({ state: "detached" })
    await leave()
  })

  it("the popup of a location at the edge of the map stays, and its link does not load the console again", async () => {
    const { leave, page } = await visit("/locations?view=map&filter=identifier:equals:UTR-003")
    await page.waitForSelector(".map[data-places='1'] canvas")
    await page.evaluate("window.isSame = true")
    const map = (await page.locator(".map").boundingBox())!
    const [x, y] = [map.x + map.width / 2, map.y + map.height / 2]
    // The location is in the middle, and moves to the upper edge with the map.
    const distance = map.height / 2 - 15
    await page.mouse.move(x, y + 10)
    await page.mouse.down()
    await page.mouse.move(x, y + 10 - distance, { steps: 5 })
    await page.waitForTimeout(300)
    await page.mouse.up()
    await page.mouse.click(x, y - distance)
    const link = page.locator(".leaflet-popup").getByRole("link", { name: "Bakkerij 3" })
    await link.waitFor()
    // The map moves for a quarter of a second to have room for the popup.
    await page.waitForTimeout(1000)
    await link.click()
    await page.getByRole("heading", { name: "Bakkerij 3" }).waitFor()
    assert.isTrue(await page.evaluate<boolean>("window.isSame"))
    await leave()
  })

  it("a map shows the name of a location as text, and stays when the language changes", async () => {
    const name = `<b id="markup">Bakkerij</b>`
    const uuid = await service.create("/v1/locations", location(60, { name, identifier: "UTR-HTML" }))
    const { leave, page, problems } = await visit("/locations?view=map&filter=identifier:equals:UTR-HTML")
    await page.waitForSelector(".map[data-places='1'] canvas")
    const map = (await page.locator(".map").boundingBox())!
    const [x, y] = [map.x + map.width / 2, map.y + map.height / 2]
    const tooltip = page.locator(".leaflet-tooltip")
    await until("the tooltip is shown", async () => {
      // The map ignores the moves of 32 ms after one.
      await page.mouse.move(x + 2, y)
      await page.mouse.move(x, y)
      return (await tooltip.count()) === 1
    })
    assert.strictEqual(await tooltip.textContent(), name)
    assert.strictEqual(await page.locator("#markup").count(), 0)
    await page.getByLabel("Language").selectOption("nl")
    await page.getByRole("button", { name: "Inzoomen" }).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Zoom in" }).count(), 0)
    assert.isTrue(await page.locator(".map[data-places='1'] canvas").isVisible())
    assert.strictEqual(await page.getByRole("alert").count(), 0)
    assert.deepStrictEqual(problems.filter(isOwn), [])
    await leave()
    await service.call("DELETE", `/v1/locations/${uuid}`)
  })

  it("uploads that failed can be resumed while other assets are searched, and a cleared search is no longer in its field", async () => {
    const { leave, page } = await visit("/assets")
    await page.getByText(/\d+ of \d+/).waitFor()
    await reject(page, /\/v1\/uploads\/init/)
    await page
      .getByLabel("Drop files here")
      .setInputFiles({ name: "kaart.txt", mimeType: "text/plain", buffer: Buffer.from("kaart") })
    const resume = page.getByRole("button", { name: "Resume" })
    await resume.waitFor()
    const search = page.getByRole("searchbox", { name: "Search" })
    await search.fill("zzzzzzzz")
    await search.press("Enter")
    await page.getByText("No record matches the filters.").waitFor()
    assert.isTrue(await resume.isVisible())
    await page.getByRole("button", { name: "Table" }).click()
    await page.getByRole("button", { name: "Clear filters" }).click()
    await page.getByRole("row").nth(1).waitFor()
    assert.strictEqual(await search.inputValue(), "")
    assert.isTrue(await resume.isVisible())
    await page.unrouteAll()
    await resume.click()
    await page.getByText("1 file uploaded").waitFor()
    await resume.waitFor({ state: "detached" })
    await page.getByText("kaart", { exact: true }).waitFor()
    await leave()
  })

  it("a file that cannot be uploaded is removed from the list, and signing out asks first while files are sent, and ends them", async () => {
    const { leave, page } = await visit("/assets")
    await reject(page, /\/v1\/uploads\/init/)
    const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) })
    await page.getByLabel("Drop files here").setInputFiles(file("virus.txt"))
    await page.getByRole("button", { name: "Resume" }).waitFor()
    await page.getByRole("button", { name: "Remove virus.txt" }).click()
    await page.getByText("Uploading virus.txt").waitFor({ state: "detached" })
    await page.unrouteAll()
    // The first part never arrives.
    await page.route("**/*", (route) => (route.request().method() === "PUT" ? undefined : route.continue()))
    const part = page.waitForRequest((request) => request.method() === "PUT")
    await page.getByLabel("Drop files here").setInputFiles(file("wrong.txt"))
    await part
    const aborted = page.waitForResponse((response) => response.request().method() === "DELETE")
    await page.getByRole("button", { name: "Remove wrong.txt" }).click()
    assert.strictEqual((await aborted).status(), 200)
    await page.unrouteAll()
    await page.route(/\/v1\/uploads\/init/, () => undefined)
    const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/v1/uploads/init"))
    await page.getByLabel("Drop files here").setInputFiles(file("slow.txt"))
    await page.getByText("Uploading slow.txt").waitFor()
    const questions: Array<string> = []
    page.on("dialog", (dialog) => {
      questions.push(dialog.message())
      void (questions.length === 1 ? dialog.dismiss() : dialog.accept())
    })
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("Uploading slow.txt").waitFor()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByLabel("API key").waitFor()
    await ended
    assert.deepStrictEqual(questions, Array(2).fill("Files are being uploaded. Sign out and end the uploads?"))
    await leave()
  })

  it("an upload that fails on another screen is reported, and goes on with its category and meta tags when it is resumed, and with what is chosen for what it lacks", async () => {
    for (const [key, name] of [
      ["maps", "Maps"],
      ["plans", "Plans"]
    ] as const) {
      await service.create("/v1/asset-categories", { key, translations: [{ locale: "en-GB", name }] })
    }
    const { leave, page } = await visit("/assets")
    const asks = () => page.evaluate<boolean>("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    let fail: () => void = () => undefined
    const failed = new Promise<void>((resolve) => (fail = resolve))
    await page.route(/\/v1\/uploads\/init/, async (route) => {
      await failed
      await route.fulfill({ status: 400, json: { _tag: "InvalidRequestError", message: "Rejected by the test" } })
    })
    const choose = async (category: string, season: string) => {
      await page.getByText("Category and meta tags of new files").click()
      await page.getByLabel(/^Category/).selectOption(category)
      await page.getByLabel("Season").selectOption(season)
      await page.getByText("Category and meta tags of new files").click()
    }
    const drop = async (name: string) => {
      const file = { name: `${name}.txt`, mimeType: "text/plain", buffer: Buffer.from(name) }
      await page.getByLabel("Drop files here").setInputFiles(file)
      await page.getByText(`Uploading ${name}.txt`).waitFor()
    }
    await choose("maps", "")
    assert.isFalse(await asks())
    await drop("street")
    await choose("maps", "spring")
    await drop("route")
    await page.locator("#navigation").getByRole("link", { name: "Start" }).click()
    await page.getByRole("heading", { name: "Start" }).waitFor()
    assert.isTrue(await asks())
    fail()
    await page.getByText("1 file was not uploaded").nth(1).waitFor()
    assert.isFalse(await asks())
    await page.locator("#navigation").getByRole("link", { name: "Assets" }).click()
    await page.unrouteAll()
    for (const [name, category, season] of [
      ["street", "maps", "autumn"],
      ["route", "plans", "spring"]
    ] as const) {
      await choose(category, "autumn")
      await page.locator("li", { hasText: name }).getByRole("button", { name: "Resume" }).click()
      await page.getByText(`Uploading ${name}.txt`).waitFor({ state: "detached" })
      const [asset] = (
        await service.call("GET", `/v1/assets?filter=fileNameOriginal:equals:${name}.txt&include=categories,metaTags`)
      ).body.data
      assert.deepStrictEqual(asset.categories, ["maps"])
      assert.deepStrictEqual(
        asset.metaTags.map(({ value }: { readonly value: unknown }) => value),
        [season]
      )
    }
    await leave()
  })

  it("what the key may not do is not offered", async () => {
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    const { leave, page } = await visit("/locations", { key: body.data.key })
    await page.getByRole("link", { name: "Bakkerij 10" }).waitFor()
    const texts = await page.locator("#navigation a").allTextContents()
    for (const text of ["Users", "Import", "Who sees what"]) assert.notInclude(texts, text)
    assert.strictEqual(await page.getByRole("link", { name: "New" }).count(), 0)
    await page.getByRole("link", { name: "Bakkerij 10" }).click()
    await page.getByRole("link", { name: "Details" }).waitFor()
    assert.strictEqual(await page.getByRole("link", { name: "Edit" }).count(), 0)
    assert.strictEqual(await page.getByRole("button", { name: "Delete" }).count(), 0)
    await leave()
    const permissions = ["read:assets", "create:assets", "update:assets"]
    const editor = await service.call("POST", "/v1/api-keys", { name: "Editor", permissions })
    const assets = await visit("/assets", { key: editor.body.data.key })
    await assets.page.getByText(/\d+ of \d+/).waitFor()
    // Files need create:uploads.
    assert.strictEqual(await assets.page.getByLabel("Drop files here").count(), 0)
    await assets.leave()
  })

  it.each(["", "/locations", "/locations/new", "/products", "/assets", "/import", "/events", "/api-keys", "/access"])(
    "the screen %s has no barriers at 390 pixels, in Dutch, and reports no error",
    async (path) => {
      const { leave, page, problems } = await visit(path, { width: 390, language: "nl" })
      // The stream of changes has no end.
      if (path !== "/events") await page.waitForLoadState("networkidle")
      assert.strictEqual(await page.evaluate("document.documentElement.lang"), "nl")
      assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), 390)
      assert.deepStrictEqual(await barriers(page), [])
      assert.deepStrictEqual(problems.filter(isOwn), [])
      await leave()
    }
  )

  it("counts and values of changes are written as in tables, with all digits of coordinates", async () => {
    const uuid = await service.create("/v1/locations", location(50, { name: "Bakkerij Formaat" }))
    await service.call("PATCH", `/v1/locations/${uuid}`, {
      coordinates: { latitude: 52.0907374, longitude: 5.1214201 }
    })
    const post = await service.create("/v1/posts", {
      type: "news",
      publishAt: "2997-01-01T12:00:00.000Z",
      translations: [{ locale: "en-GB", title: "Format" }]
    })
    await service.call("PATCH", `/v1/posts/${post}`, { publishAt: "2998-01-01T12:00:00.000Z" })
    const { leave, page } = await visit(`/locations/${uuid}/history`)
    await page.getByText("52.0907374").waitFor()
    await page.goto(`${service.url}/console/events`)
    const changed = page.locator(".changes span", { hasText: "Publish at" })
    assert.match((await changed.textContent())!, /Jan.* 2997.* Jan.* 2998/)
    await page.route(/\/v1\/locations\/quality\?/, (route) =>
      route.fulfill({ json: { _tag: "Success", data: [], pagination: { total: 3000 } } })
    )
    await page.goto(`${service.url}/console`)
    await page.getByText("3,000 locations have data that can be improved").waitFor()
    await leave()
  })

  it("the start page counts the keys that will expire, without those that have expired or have a successor", async () => {
    const expiresAt = (millis: number) => new Date(Date.now() + millis).toISOString()
    const day = 86_400_000
    const create = async (name: string, more: object) =>
      (await service.call("POST", "/v1/api-keys", { name, permissions: ["read:users"], ...more })).body.data
    await create("Soon", { expiresAt: expiresAt(10 * day) })
    await create("Later", { expiresAt: expiresAt(40 * day) })
    const old = await create("Rotated", {})
    await service.call("POST", `/v1/api-keys/${old.uuid}/rotate`, { overlapSeconds: 86_400 })
    const expired = await create("Expired", { expiresAt: expiresAt(day) })
    await sql`update api_keys set expires_at = now() - interval '2 minutes' where uuid = ${expired.uuid}`
    const { leave, page } = await visit("")
    await page.getByRole("link", { name: "1 key expires within 30 days" }).click()
    await page.getByRole("link", { name: "Soon" }).waitFor()
    await page.getByText("1 of 1").waitFor()
    assert.strictEqual(await page.getByRole("link", { name: "Rotated" }).count(), 0)
    await leave()
  })

  it("a heading is not broken between letters at 390 pixels, and every choice of colours has a name", async () => {
    const { leave, page } = await visit("/locations", { width: 390 })
    const lines = "(([one]) => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight))"
    assert.strictEqual(Math.round(await page.evaluate<number>(`${lines}(document.querySelectorAll("h1"))`)), 1)
    await page.getByRole("button", { name: "Menu" }).click()
    const colours = await page.getByLabel("Colours").locator("option").allTextContents()
    assert.deepStrictEqual(colours, ["As the device", "Light", "Dark"])
    await leave()
  })

  it("an empty table, or an empty grid of assets, offers to create and import records where the key can do that", async () => {
    const { body } = await service.call("POST", "/v1/api-keys", { name: "Guest", permissions: ["read:users"] })
    for (const [key, path, text] of [
      [service.key, "/users", "Nothing here yet.Create the first user, or import a spreadsheet."],
      [service.key, "/webhooks", "Nothing here yet.Create the first webhook."],
      [service.key, "/assets", "Nothing here yet.Create the first asset."],
      [body.data.key, "/users", "Nothing here yet."]
    ]) {
      const { leave, page } = await visit("", { key })
      await page.route(/\/v1\/(?:users|webhooks|assets)\?/, (route) =>
        route.fulfill({ json: { _tag: "Success", data: [], pagination: { total: 0 } } })
      )
      await page.goto(`${service.url}/console${path}`)
      assert.strictEqual(await page.locator(".empty").textContent(), text)
      await leave()
    }
  })

  it("a record that does not exist shows what is wrong and a way on", async () => {
    const { leave, page } = await visit("/groups")
    await page.goto(`${service.url}/console/webhooks/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30`)
    assert.include(await page.getByRole("alert").textContent(), "webhook")
    await page.getByRole("button", { name: "Try again" }).waitFor()
    // A record with a history that never existed was not deleted.
    await page.goto(`${service.url}/console/locations/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30`)
    await page.getByRole("alert").filter({ hasText: "location" }).waitFor()
    await page.getByRole("button", { name: "Try again" }).waitFor()
    assert.strictEqual(await page.getByText("This record was deleted").count(), 0)
    await leave()
  })
})
