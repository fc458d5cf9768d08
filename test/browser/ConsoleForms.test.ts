import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser, Page } from "playwright-core"
import * as Service from "../support/Service.ts"
import { launch } from "./Browser.ts"
import * as Visits from "./ConsoleVisits.ts"

const cleanups: Array<() => unknown> = []
let service: Service.Service
let browser: Browser

beforeAll(async () => {
  service = await Service.start()
  cleanups.unshift(() => service[Symbol.asyncDispose]())
  browser = await launch()
  cleanups.unshift(() => browser.close())
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

const visit = (path: string) => Visits.visit({ browser, service }, path)

const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent")

describe("forms of the console in a browser", () => {
  it("the focus returns to the button that opened a dialog, when it is cancelled and when a record is picked", async () => {
    const group = await service.create("/v1/groups", { name: "Focus" })
    const { context, page } = await visit(`/groups/${group}`)
    const remove = page.getByRole("button", { name: "Delete" })
    await remove.press("Enter")
    await page.getByRole("button", { name: "Cancel" }).press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.strictEqual(await focused(page), "Delete")
    await service.create("/v1/users", { username: "focus", email: "focus@example.com" })
    await page.goto(`${service.url}/console/access`)
    const choose = page.getByRole("button", { name: /^user/ })
    await choose.press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "focus" }).press("Enter")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.match(await focused(page), /^user/)
    await context.close()
  })

  it("a problem of an element of a list is shown at this element, also if one before it is empty", async () => {
    const { context, page } = await visit("/posts/new")
    await page.locator("#root_type").selectOption("news")
    const translations = page
      .locator("fieldset.array")
      .filter({ has: page.locator("legend", { hasText: "Translations" }) })
    await translations.getByRole("button", { name: "Add" }).click()
    await page.locator("#root_translations_1_title").fill("A title without a locale")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator("#root_translations_1_locale__error").waitFor()
    assert.strictEqual(await page.locator("#root_translations_0_locale__error").count(), 0)
    await context.close()
  })
})
