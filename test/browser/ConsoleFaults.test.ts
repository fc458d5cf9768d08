import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import * as Service from "../support/Service.ts"
import { launch } from "./Browser.ts"
import * as Visits from "./ConsoleVisits.ts"
import { show } from "./ConsoleVisits.ts"

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

const visit = (path: string, options?: Visits.Options) => Visits.visit({ browser, service }, path, options)

describe("the console without a network, with a key that ends, and while other clients write", () => {
  it("a deletion without a network says so, and is not carried out once there is one again", async () => {
    const group = await service.create("/v1/groups", { name: "Zonder netwerk" })
    const { context, leave, page } = await visit(`/groups/${group}`)
    await context.setOffline(true)
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.locator(".notices").getByText("The service cannot be reached.").waitFor()
    await show(page, "/users")
    const failure = page.getByRole("alert").filter({ hasText: "The service cannot be reached." })
    await failure.waitFor()
    await context.setOffline(false)
    await page.getByText("Nothing here yet.").waitFor()
    assert.strictEqual(await failure.count(), 0)
    assert.strictEqual((await service.call("GET", `/v1/groups/${group}`)).status, 200)
    await leave()
  })
})
