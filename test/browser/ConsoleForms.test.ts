import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
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

describe("forms of the console in a browser", () => {
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
