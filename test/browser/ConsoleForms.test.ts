import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser, Page } from "playwright-core"
import { createClient, type UploadOptions } from "../../src/client/promise/PromiseClient.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"
import { launch } from "./Browser.ts"
import * as Visits from "./ConsoleVisits.ts"
import { reject, show } from "./ConsoleVisits.ts"

const cleanups: Array<() => unknown> = []
let service: Service.Service
let browser: Browser

beforeAll(async () => {
  // No locale is one of the default ones, so that a form that knew only these would fail.
  service = await Service.start({ LOCALES: "nl,en,de-CH" })
  cleanups.unshift(() => service[Symbol.asyncDispose]())
  browser = await launch()
  cleanups.unshift(() => browser.close())
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

const visit = (path: string, options?: Visits.Options) => Visits.visit({ browser, service }, path, options)

/** Answers the questions of the browser; returns them as they are asked. */
const answer = (page: Page, { isYes }: { readonly isYes: boolean }) => {
  const questions: Array<string> = []
  page.removeAllListeners("dialog")
  page.on("dialog", (dialog) => {
    questions.push(dialog.message())
    void (isYes ? dialog.accept() : dialog.dismiss())
  })
  return questions
}

/** Uploads a file and creates its asset. */
const upload = async (name: string, members: UploadOptions) => {
  const client = createClient({ url: service.url, key: service.key })
  const { uuid } = await client.assets.upload(new File([name], `${name}.txt`, { type: "text/plain" }), members)
  return uuid
}

/** The fields of a form for the elements of a list. */
const listIn = (page: Page, title: string) =>
  page.locator("fieldset.array").filter({ has: page.locator("legend", { hasText: title }) })

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent")

describe("forms of the console in a browser", () => {
  it("records for which a change or a deletion fails stay chosen, and the dialog shows why", async () => {
    for (const key of ["a", "b"])
      await service.create("/v1/locations", { name: `Dubbel ${key}`, identifier: `DUP-${key}` })
    const { leave, page } = await visit("/locations?filter=name:startsWith:Dubbel&sort=name")
    const dialog = page.getByRole("dialog")
    await page.getByLabel("Select all that are loaded").check()
    await page.getByRole("button", { name: "Edit selected" }).click()
    await dialog.locator("#root_identifier").fill("DUP-c")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByRole("alert").filter({ hasText: "1 record failed" }).waitFor()
    await page.getByText("1 record changed").waitFor()
    await dialog.getByRole("heading", { name: "Edit 1 record" }).waitFor()
    assert.strictEqual(await dialog.locator("#root_identifier").inputValue(), "DUP-c")
    const questions = answer(page, { isYes: false })
    await page.keyboard.press("Escape")
    await until("the question is asked", async () => questions.length === 1)
    await page.keyboard.press("Escape")
    await until("the question is asked again", async () => questions.length === 2)
    assert.isTrue(await dialog.isVisible())
    answer(page, { isYes: true })
    await dialog.getByRole("button", { name: "Close" }).click()
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(await page.locator("tr[data-selected=true]").count(), 1)
    await reject(page, /\/v1\/locations\/bulk/)
    await page.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("alert").filter({ hasText: "Rejected by the test" }).waitFor()
    await page.unrouteAll()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("1 record deleted").waitFor()
    await page.getByText("1 of 1").waitFor()
    await leave()
  })

  it("a product is created and edited, and chosen posts are edited at once, without lists that stay empty", async () => {
    const { leave, page } = await visit("/products/new")
    await page.locator("#root_type").selectOption("default")
    await page.getByLabel("Identifier").fill("MUG-1")
    await page.locator("#root_name").fill("Mok")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "Mok" }).waitFor()
    await page.getByRole("link", { name: "Edit" }).click()
    await page.locator("#root_name").fill("Mok van steen")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "Mok van steen" }).waitFor()
    const post = (title: string) => ({ type: "news", translations: [{ locale: "en", title }] })
    const posts = [await service.create("/v1/posts", post("Een")), await service.create("/v1/posts", post("Twee"))]
    await show(page, "/posts")
    await page.getByLabel("Select all that are loaded").check()
    await page.getByRole("button", { name: "Edit selected" }).click()
    const dialog = page.getByRole("dialog")
    assert.strictEqual(await dialog.getByLabel("Pinned").inputValue(), "")
    await dialog.getByLabel("Pinned").selectOption("yes")
    await dialog.getByRole("button", { name: "Save" }).click()
    await page.getByText("2 records changed").waitFor()
    for (const uuid of posts) assert.isTrue((await service.call("GET", `/v1/posts/${uuid}`)).body.data.pinned)
    await leave()
  })

  it("a dialog that is closed leaves the dialog that it is in open, with what was typed", async () => {
    await service.create("/v1/posts", { type: "news", translations: [{ locale: "en", title: "Dialogen" }] })
    const { leave, page } = await visit("/posts")
    await page.getByLabel("Select Dialogen").check()
    await page.getByRole("button", { name: "Edit selected" }).click()
    const pinned = page.locator("#root_pinned")
    await pinned.selectOption("yes")
    const picker = page.getByRole("dialog", { name: "Choose… Assets" })
    const close = [() => page.keyboard.press("Escape"), () => picker.getByRole("button", { name: "Close" }).click()]
    for (const closePicker of close) {
      await page.locator("#root_coverAssetUuid").click()
      await picker.waitFor()
      await closePicker()
      await picker.waitFor({ state: "detached" })
      assert.strictEqual(await pinned.inputValue(), "true")
    }
    await leave()
  })

  it("the form of an asset begins with its categories, which have names, and its times, and warns when another client changed them", async () => {
    for (const key of ["flyers", "posters"]) {
      await service.create("/v1/asset-categories", { key, translations: [{ locale: "en", name: key }] })
    }
    const times = { validFrom: "2030-01-01T10:00:00.000Z", validUntil: "2031-01-01T10:00:00.000Z" }
    const uuid = await upload("folder", { categories: ["flyers"], ...times })
    const path = `/v1/assets/${uuid}?include=categories,validFrom,validUntil`
    const { leave, page } = await visit(`/assets/${uuid}/edit`)
    const categories = listIn(page, "Categories")
    assert.strictEqual(await categories.getByLabel("Categories 1").inputValue(), "flyers")
    await categories.getByRole("button", { name: "Add" }).click()
    await categories.getByRole("textbox").nth(1).fill("posters")
    await service.call("PATCH", `/v1/assets/${uuid}`, { validUntil: "2032-01-01T10:00:00.000Z" })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Another client changed this record").waitFor()
    await page.getByRole("button", { name: "Save mine anyway" }).click()
    await page.getByText("Saved").waitFor()
    const { body: added } = await service.call("GET", path)
    assert.sameMembers(added.data.categories, ["flyers", "posters"])
    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("Valid until").fill("")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByLabel("Valid until").waitFor({ state: "detached" })
    const { body: cleared } = await service.call("GET", path)
    assert.strictEqual(cleared.data.validFrom, times.validFrom)
    assert.isUndefined(cleared.data.validUntil)
    await leave()
  })

  it("files are uploaded and meta tags shown whatever locales the service accepts", async () => {
    await service.create("/v1/meta-tags", {
      key: "season",
      type: "text",
      translations: [
        { locale: "nl", name: "Seizoen" },
        { locale: "en", name: "Season" }
      ]
    })
    const { leave, page } = await visit("/assets")
    await page.getByText("Category and meta tags of new files").click()
    await page.getByLabel("Season").fill("Spring")
    await page
      .getByLabel("Drop files here")
      .setInputFiles({ name: "folder 2.0.txt", mimeType: "text/plain", buffer: Buffer.from("folder") })
    await page.getByText("1 file uploaded").waitFor()
    const { body } = await service.call("GET", "/v1/assets")
    const asset = body.data.find(
      (asset: { readonly fileNameOriginal: string }) => asset.fileNameOriginal === "folder 2.0.txt"
    )
    assert.deepStrictEqual(asset.translations, [{ locale: "nl", name: "folder 2.0" }])
    await page.goto(`${service.url}/console/assets/${asset.uuid}/meta-tags`)
    assert.strictEqual(await page.getByLabel("Season").inputValue(), "Spring")
    await leave()
  })

  it("a translation of an asset is removed, and the description of another one is cleared", async () => {
    const translations = ["de-CH", "en", "nl"].map((locale) => ({ locale, name: locale, description: "Text" }))
    const uuid = await upload("talen", { translations })
    const { leave, page } = await visit(`/assets/${uuid}/edit`)
    await page.locator("#root_translations_1_description").fill("")
    await page.locator("#root_translations_2_name").fill("")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator("#root_translations_2_name__error").waitFor()
    await page.locator("#root_translations_2_name").fill("Poster")
    await listIn(page, "Translations").getByRole("button", { name: "Remove" }).first().click()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    const { body } = await service.call("GET", `/v1/assets/${uuid}`)
    assert.deepStrictEqual(body.data.translations, [
      { locale: "en", name: "en" },
      { locale: "nl", name: "Poster", description: "Text" }
    ])
    await leave()
  })

  it("a form is not sent while a field has text that is no value of it, and shows this field", async () => {
    const uuid = await service.create("/v1/locations", {
      name: "Onleesbaar",
      identifier: "BAD-1",
      coordinates: { latitude: 52, longitude: 5 }
    })
    const { leave, page } = await visit(`/locations/${uuid}/edit`)
    const latitude = page.getByLabel("Latitude")
    const isFocused = (field: string) => page.evaluate(`document.activeElement.id === "${field}"`)
    let writes = 0
    page.on("request", (request) => void (["PATCH", "POST"].includes(request.method()) && writes++))
    await latitude.press("End")
    await latitude.press("e")
    await page.locator("summary", { has: page.getByText("Coordinates") }).click()
    await page.getByRole("button", { name: "Save" }).click()
    await until("the latitude is shown", () => isFocused("root_coordinates_latitude"))
    assert.isTrue(await latitude.isVisible())
    await page.goto(`${service.url}/console/api-keys/new`)
    await page.getByLabel("Name").fill("Onleesbaar")
    await page.getByLabel("read:locations").check()
    const expiry = page.getByLabel("Expires at")
    await expiry.press("ArrowUp")
    await page.getByRole("button", { name: "Save" }).click()
    await until("the time is shown", () => isFocused("root_expiresAt"))
    assert.strictEqual(writes, 0)
    await expiry.fill("2999-01-01T10:00")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("This secret is shown once").waitFor()
    assert.strictEqual(writes, 1)
    await leave()
  })

  it("the form of a webhook begins with whether it is active, that of a new one without a choice, and the form of a group leaves its members to their lists", async () => {
    const webhook = await service.create("/v1/webhooks", {
      url: "https://93.184.216.34/events",
      types: ["group.*"],
      active: false
    })
    const { leave, page } = await visit(`/webhooks/${webhook}/edit`)
    const active = page.locator("#root_active")
    await active.waitFor()
    assert.isFalse(await active.isChecked())
    await active.check()
    await page.getByRole("button", { name: "Save" }).click()
    await active.waitFor({ state: "detached" })
    assert.strictEqual((await service.call("GET", `/v1/webhooks/${webhook}`)).body.data.state, "active")
    await page.getByRole("link", { name: "Edit" }).click()
    await active.waitFor()
    assert.isTrue(await active.isChecked())
    await show(page, "/webhooks/new")
    await page.getByText("Whether events are sent from the start; true unless given.").waitFor()
    assert.strictEqual(await page.getByLabel("Active").inputValue(), "")
    const group = await service.create("/v1/groups", { name: "Leden" })
    await show(page, `/groups/${group}/edit`)
    await page.locator("#root_name").waitFor()
    assert.strictEqual(await page.locator("fieldset.array").count(), 0)
    await leave()
  })

  it("a webhook without deliveries says that none is recorded", async () => {
    const webhook = await service.create("/v1/webhooks", { url: "https://93.184.216.34/events", types: ["user.*"] })
    const { leave, page } = await visit(`/webhooks/${webhook}/deliveries`)
    await page.getByText("No delivery is recorded.").waitFor()
    assert.strictEqual(await page.getByText("No change is recorded.").count(), 0)
    await leave()
  })

  it("a negative number keeps its sign while it is typed into a browser whose decimals have a comma, and a failed connection is named in its language", async () => {
    const uuid = await service.create("/v1/locations", {
      name: "Westelijk",
      identifier: "NEG-1",
      coordinates: { latitude: 51.4779, longitude: 5 }
    })
    const { leave, page } = await visit(`/locations/${uuid}/edit`, { locale: "nl-NL" })
    const longitude = page.locator("#root_coordinates_longitude")
    await longitude.fill("")
    await longitude.pressSequentially("-0,1278")
    await page.route(/\/v1\/locations\/[^/]+$/, (route) => route.abort())
    await page.getByRole("button", { name: "Opslaan" }).click()
    await page.getByRole("alert").filter({ hasText: "De dienst is niet bereikbaar." }).waitFor()
    await page.unrouteAll()
    await page.getByRole("button", { name: "Opslaan" }).click()
    await longitude.waitFor({ state: "detached" })
    const { body } = await service.call("GET", `/v1/locations/${uuid}`)
    assert.deepStrictEqual(body.data.coordinates, { latitude: 51.4779, longitude: -0.1278 })
    await leave()
  })

  it("elements of a list that are moved, removed and added are saved in the order of the form, and each type of a value has a name", async () => {
    const uuid = await service.create("/v1/meta-tags", {
      key: "ordered",
      type: "select",
      translations: [{ locale: "en", name: "Ordered" }],
      options: ["a", "b", "c"].map((key, index) => ({ key, position: 10 + index }))
    })
    const { leave, page } = await visit(`/meta-tags/${uuid}/edit`)
    const types = await page.getByLabel("Default value", { exact: true }).first().locator("option").allTextContents()
    assert.deepStrictEqual(types, ["Choose…", "Text", "Number", "Yes or no", "List"])
    const options = listIn(page, "Options")
    await options.getByRole("button", { name: "Move down" }).first().click()
    await options.getByRole("button", { name: "Remove" }).nth(1).click()
    await options.getByRole("button", { name: "Add" }).last().click()
    await page.locator("#root_options_2_key").fill("d")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    const placesIn = async (path: string) => {
      const { body } = await service.call("GET", path)
      return body.data.options.map(({ key, position }: Readonly<Record<string, unknown>>) => [key, position])
    }
    assert.deepStrictEqual(await placesIn(`/v1/meta-tags/${uuid}`), [
      ["b", 0],
      ["c", 1],
      ["d", 2]
    ])
    const product = await service.create("/v1/products", { type: "variantParent", identifier: "ORD-1", name: "Trui" })
    const module = `/v1/products/${product}/modules/variants`
    await service.call("PUT", module, {
      options: [
        { key: "size", position: 7, values: [{ key: "m" }] },
        { key: "color", position: 3, values: [{ key: "red" }] }
      ]
    })
    await page.goto(`${service.url}/console/products/${product}/modules?module=variants`)
    assert.strictEqual(await page.locator("#root_options_0_key").inputValue(), "color")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator(".notices").getByText("Saved").waitFor()
    assert.deepStrictEqual(await placesIn(module), [
      ["color", 0],
      ["size", 1]
    ])
    await leave()
  })

  it("a product that is not published because of a module says which member of which module is the problem", async () => {
    const user = await service.create("/v1/users", { username: "approver", email: "approver@example.com" })
    const product = await service.create("/v1/products", { type: "default", identifier: "PUB-1", name: "Vlag" })
    await service.call("PUT", `/v1/products/${product}/modules/workflow`, {
      steps: [{ name: "Check", approvers: { type: "users", uuids: [user] } }]
    })
    await service.call("DELETE", `/v1/users/${user}`)
    const { leave, page } = await visit(`/products/${product}/edit`)
    await page.locator("#root_status").selectOption("published")
    await page.getByRole("button", { name: "Save" }).click()
    const alert = page.getByRole("alert").filter({ hasText: "1 problem" })
    await alert.getByText("Modules › Workflow › Steps › Approvers › Uuids").waitFor()
    assert.strictEqual((await service.call("GET", `/v1/products/${product}`)).body.data.status, "draft")
    await leave()
  })

  it("records that are no longer in the view are no longer chosen", async () => {
    for (const name of ["Keuze een", "Keuze twee"]) await service.create("/v1/groups", { name })
    const { leave, page } = await visit("/groups?filter=name:contains:een")
    await page.getByLabel("Select Keuze een").check()
    await page.getByText("1 selected").waitFor()
    await page.getByRole("button", { name: /^Remove the filter/ }).click()
    await page.getByLabel("Select Keuze twee").check()
    await page.getByText("1 selected").waitFor()
    assert.isFalse(await page.getByLabel("Select Keuze een").isChecked())
    await leave()
  })

  it("a form with text that is not saved asks before it is left, by a link and by the history of the browser", async () => {
    const group = await service.create("/v1/groups", { name: "Verlaten" })
    const { leave, page } = await visit(`/groups/${group}`)
    await page.getByRole("link", { name: "Edit" }).click()
    const name = page.locator("#root_name")
    await name.fill("Verlaten en terug")
    const refused = answer(page, { isYes: false })
    await page.locator("#navigation").getByRole("link", { name: "Locations" }).click()
    await until("the link asks", async () => refused.length === 1)
    await page.evaluate("history.back()")
    await until("the history asks", async () => refused.length === 2)
    // The browser goes back before the form takes it forward again.
    await until("the form has its address again", async () => page.url().endsWith("/edit"))
    assert.strictEqual(await name.inputValue(), "Verlaten en terug")
    await page.evaluate("setTimeout(() => location.reload())")
    await until("the end of the page asks", async () => refused.length === 3)
    assert.strictEqual(await name.inputValue(), "Verlaten en terug")
    answer(page, { isYes: true })
    await page.evaluate("history.back()")
    await page.getByRole("link", { name: "Details", exact: true, includeHidden: false }).waitFor()
    await name.waitFor({ state: "detached" })
    await leave()
  })

  it("a form that is saved, and one in which nothing was typed, are left without a question", async () => {
    const group = await service.create("/v1/groups", { name: "Bewaard" })
    const { leave, page } = await visit(`/groups/${group}/edit`)
    const questions = answer(page, { isYes: false })
    await page.locator("#root_name").fill("Bewaard en klaar")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "Bewaard en klaar" }).waitFor()
    for (const resource of ["locations", "users", "products", "posts", "meta-tags", "webhooks", "api-keys"]) {
      await show(page, `/${resource}/new`)
      await page.getByRole("button", { name: "Save" }).waitFor()
      await page.getByRole("link", { name: "Start" }).click()
      await page.getByRole("heading", { name: "Start" }).waitFor()
    }
    assert.deepStrictEqual(questions, [])
    await leave()
  })

  it("the focus returns to the button that opened a dialog, when it is cancelled and when a record is picked", async () => {
    const group = await service.create("/v1/groups", { name: "Focus" })
    const { leave, page } = await visit(`/groups/${group}`)
    const remove = page.getByRole("button", { name: "Delete" })
    await remove.press("Enter")
    await page.getByRole("button", { name: "Cancel" }).press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.strictEqual(await focused(page), "Delete")
    await service.create("/v1/users", { username: "focus", email: "focus@example.com" })
    await show(page, "/access")
    const choose = page.getByRole("button", { name: /^user/ })
    await choose.press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "focus" }).press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.match(await focused(page), /^user/)
    await leave()
  })

  it("the names of all records that a form refers to are read together", async () => {
    const locations = []
    for (const name of ["Noord", "Oost", "West"]) {
      locations.push({ uuid: await service.create("/v1/locations", { name, identifier: `NAMED-${name}` }) })
    }
    const product = await service.create("/v1/products", { type: "default", identifier: "NAMED", name: "Named" })
    await service.call("PUT", `/v1/products/${product}/modules/locations`, { mode: "include", locations })
    const { leave, page } = await visit("/products")
    const reads: Array<string> = []
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith("/v1/locations")) reads.push(pathname + search)
    })
    await show(page, `/products/${product}/modules?module=locations`)
    for (const name of ["Noord", "Oost", "West"]) await page.getByRole("link", { name }).waitFor()
    assert.lengthOf(reads, 1)
    assert.match(reads[0]!, /^\/v1\/locations\?.*uuid.*in/)
    await leave()
  })

  it("a problem of an element of a list is shown at this element, also if one before it is empty, and a choice is read with its problems", async () => {
    const { leave, page } = await visit("/posts/new")
    await page.locator("#root_type").selectOption("news")
    await listIn(page, "Translations").getByRole("button", { name: "Add" }).click()
    await page.locator("#root_translations_1_title").fill("A title without a locale")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator("#root_translations_1_locale__error").waitFor()
    assert.strictEqual(await page.locator("#root_translations_0_locale__error").count(), 0)
    assert.include(await page.locator("#root_type").getAttribute("aria-describedby"), "root_type__error")
    await leave()
  })

  it("plans that are not applied are deleted when another one is made and when the page is left", async () => {
    const { leave, page } = await visit("/import")
    const plans: Array<string> = []
    const compare = async () => {
      await page.getByLabel("Drop files here").setInputFiles({
        name: "winkels.csv",
        mimeType: "text/csv",
        buffer: Buffer.from("identifier;name;other\nPLAN-1;Winkel;x\n")
      })
      const made = page.waitForResponse((response) => /\/v1\/plans\?/.test(response.url()))
      await page.getByRole("button", { name: "Compare" }).click()
      plans.push((await (await made).json()).data.uuid)
      await page.getByText("1 to create").waitFor()
    }
    const isGone = async (plan: string) => (await service.call("GET", `/v1/plans/${plan}`)).status === 404
    await compare()
    await compare()
    await until("the first plan is deleted", () => isGone(plans[0]!))
    assert.isFalse(await isGone(plans[1]!))
    await page.getByRole("link", { name: "Start" }).click()
    await until("the second plan is deleted", () => isGone(plans[1]!))
    await leave()
  })

  it("a plan that is shown when the page is loaded again is deleted", async () => {
    const { leave, page } = await visit("/import")
    await page.getByLabel("Drop files here").setInputFiles({
      name: "winkels.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("identifier;name\nPLAN-4;Winkel\n")
    })
    const made = page.waitForResponse((response) => /\/v1\/plans\?/.test(response.url()))
    await page.getByRole("button", { name: "Compare" }).click()
    const plan = (await (await made).json()).data.uuid
    await page.getByText("1 to create").waitFor()
    const isGone = async () => (await service.call("GET", `/v1/plans/${plan}`)).status === 404
    assert.isFalse(await isGone())
    await page.reload()
    await until("the plan is deleted", isGone)
    await leave()
  })

  it("a plan that is made after another file was dropped, or after the page was left, is deleted", async () => {
    const { leave, page } = await visit("/import")
    const plans: Array<string> = []
    const drop = () =>
      page.getByLabel("Drop files here").setInputFiles({
        name: "winkels.csv",
        mimeType: "text/csv",
        buffer: Buffer.from("identifier;name\nPLAN-3;Winkel\n")
      })
    const leaving = [
      async () => {
        await drop()
        await page.getByRole("button", { name: "Compare" }).waitFor()
      },
      async () => {
        await page.getByRole("link", { name: "Start" }).click()
        await page.getByRole("heading", { name: "Start" }).waitFor()
      }
    ]
    await drop()
    for (const [index, leavePlan] of leaving.entries()) {
      await page.route(/\/v1\/plans\?/, async (route) => {
        const response = await route.fetch()
        plans.push((await response.json()).data.uuid)
        await leavePlan()
        await route.fulfill({ response })
      })
      await page.getByRole("button", { name: "Compare" }).click()
      const isGone = async () =>
        plans[index] !== undefined && (await service.call("GET", `/v1/plans/${plans[index]}`)).status === 404
      await until("the plan is deleted", isGone)
      await page.unrouteAll({ behavior: "wait" })
    }
    assert.lengthOf(new Set(plans), 2)
    await leave()
  })

  it("a column that is chosen for a member takes it from the column that had it", async () => {
    const { leave, page } = await visit("/import")
    await page.getByLabel("Drop files here").setInputFiles({
      name: "winkels.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("identifier;name;other\nPLAN-2;Winkel;Andere\n")
    })
    const member = (title: string) => page.getByLabel(`Member of the record: ${title}`)
    assert.strictEqual(await member("name").inputValue(), "name")
    await member("other").selectOption("name")
    assert.strictEqual(await member("name").inputValue(), "")
    await leave()
  })
})
