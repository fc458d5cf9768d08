import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import * as Service from "../support/Service.ts"
import { launch } from "./Browser.ts"
import * as Visits from "./ConsoleVisits.ts"
import { endKey, readAgain, reject, show } from "./ConsoleVisits.ts"

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

  it("the usages of a record count the references from records that the key may not read", async () => {
    const location = await service.create("/v1/locations", { name: "Gebruikt", identifier: "USED-1" })
    const product = await service.create("/v1/products", { type: "default", identifier: "USED-1", name: "Poster" })
    await service.call("PUT", `/v1/products/${product}/modules/locations`, {
      mode: "include",
      locations: [{ uuid: location }]
    })
    const keyOf = async (...permissions: ReadonlyArray<string>) =>
      (await service.call("POST", "/v1/api-keys", { name: "Reader", permissions })).body.data.key
    const hidden = "1 reference is from a record that the key may not read."
    const reader = await visit(`/locations/${location}/usages`, { key: await keyOf("read:locations") })
    await reader.page.getByText(hidden).waitFor()
    await reader.leave()
    const editor = await visit(`/locations/${location}/usages`, { key: await keyOf("read:locations", "read:products") })
    await editor.page.getByRole("link", { name: "Poster" }).waitFor()
    assert.strictEqual(await editor.page.getByText("may not read").count(), 0)
    await editor.leave()
  })

  it("a form in which something was typed stays when another client deletes its record", async () => {
    const group = await service.create("/v1/groups", { name: "Verwijderd" })
    const { context, page } = await visit(`/groups/${group}/edit`)
    const name = page.locator("#root_name")
    await name.fill("Verwijderd en getypt")
    await service.call("DELETE", `/v1/groups/${group}`)
    await readAgain(page)
    await page.getByRole("button", { name: "Try again" }).waitFor()
    assert.strictEqual(await name.inputValue(), "Verwijderd en getypt")
    await context.close()
  })

  it("the form of a module in which something was typed stays when another client deactivates the module", async () => {
    const product = await service.create("/v1/products", { type: "default", identifier: "GONE-1", name: "Poster" })
    const path = `/v1/products/${product}/modules/price`
    await service.call("PUT", path, { model: "fixed", amountMinor: 1200 })
    const { context, page } = await visit(`/products/${product}/modules?module=price`)
    const amount = page.getByLabel("Amount minor")
    await amount.fill("1350")
    await service.call("DELETE", path)
    await readAgain(page)
    await page.getByRole("button", { name: "Deactivate" }).waitFor({ state: "detached" })
    assert.strictEqual(await amount.count(), 1)
    assert.strictEqual(await amount.inputValue(), "1350")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Another client changed this record").waitFor()
    await page.getByRole("button", { name: "Save mine anyway" }).click()
    await page.locator(".notices").getByText("Saved").waitFor()
    assert.strictEqual((await service.call("GET", path)).body.data.amountMinor, 1350)
    await service.call("DELETE", path)
    await amount.fill("1400")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("button", { name: "Discard mine and reload" }).click()
    await page.getByText("Not active").waitFor()
    await context.close()
  })

  it("a version of a history is not restored over a change by another client that the history does not show", async () => {
    const uuid = await service.create("/v1/locations", { name: "Kapper A", identifier: "HISTORY-1" })
    const path = `/v1/locations/${uuid}`
    const nameOf = async () => (await service.call("GET", path)).body.data.name
    await service.call("PATCH", path, { name: "Kapper B" })
    const { leave, page } = await visit(`/locations/${uuid}/history`)
    await page.getByRole("row", { name: "Name Kapper A Kapper B" }).waitFor()
    await service.call("PATCH", path, { name: "Kapper C" })
    await page.getByRole("button", { name: "Restore" }).click()
    await page.getByText("This record has changed since it was shown. Nothing was restored").waitFor()
    assert.strictEqual(await nameOf(), "Kapper C")
    await page.getByRole("row", { name: "Name Kapper B Kapper C" }).waitFor()
    await page.getByRole("button", { name: "Restore" }).last().click()
    await page
      .locator(".notices")
      .getByText(/^Restored/)
      .waitFor()
    assert.strictEqual(await nameOf(), "Kapper A")
    await leave()
  })

  it("a kept key is tried again after a start that failed, and forgotten when it is rejected", async () => {
    const { leave, page } = await visit("")
    await page.evaluate(`localStorage.setItem("waypost-key", sessionStorage.getItem("waypost-key"))
      sessionStorage.clear()`)
    await page.route(/\/v1\/me$/, (route) => route.abort())
    await page.reload()
    await page.getByRole("alert").filter({ hasText: "The service cannot be reached." }).waitFor()
    await page.unrouteAll()
    const retry = page.getByRole("button", { name: "Try again" })
    await retry.click()
    await page.getByRole("heading", { name: "Start" }).waitFor()
    await endKey(page, /\/v1\/me$/, "GET")
    await page.reload()
    await page.getByRole("alert").filter({ hasText: "does not accept this key" }).waitFor()
    assert.strictEqual(await retry.count(), 0)
    const kept = await page.evaluate<unknown>(
      `[sessionStorage, localStorage].map((storage) => storage.getItem("waypost-key"))`
    )
    assert.deepStrictEqual(kept, [null, null])
    await leave()
  })

  it("a module that is saved, but fails to be read again, is edited once it is read", async () => {
    const product = await service.create("/v1/products", { type: "default", identifier: "SAVED-1", name: "Poster" })
    const path = `/v1/products/${product}/modules/price`
    await service.call("PUT", path, { model: "fixed", amountMinor: 1200 })
    const { leave, page } = await visit(`/products/${product}/modules?module=price`)
    const amount = page.getByLabel("Amount minor")
    await amount.fill("1350")
    await reject(page, new RegExp(path), "GET")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator(".notices").getByText("Saved").waitFor()
    assert.strictEqual((await service.call("GET", path)).body.data.amountMinor, 1350)
    assert.strictEqual(await page.locator("[data-unsaved=true]").count(), 0)
    await page.unrouteAll()
    await page.getByRole("button", { name: "Try again" }).click()
    await amount.fill("1450")
    const again = page.waitForResponse((response) => response.request().method() === "PUT")
    await page.getByRole("button", { name: "Save" }).click()
    assert.strictEqual((await again).status(), 200)
    await leave()
  })

  it("a secret that is copied is in the clipboard, else selected, and cannot be copied by a page without a clipboard", async () => {
    const { context, page } = await visit("")
    const secret = page.locator(".secret")
    const copy = page.getByRole("button", { name: "Copy" })
    const create = async () => {
      await show(page, "/api-keys/new")
      await page.getByLabel("Name").fill("Website")
      await page.getByLabel("read:locations").check()
      await page.getByRole("button", { name: "Save" }).click()
      await secret.waitFor()
    }
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    await create()
    await copy.click()
    await page.locator(".notices").getByText("Copied").waitFor()
    assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), await secret.textContent())
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    await copy.click()
    await page.waitForFunction("getSelection().toString().startsWith('wp_')")
    // As in a page without TLS.
    await page.evaluate("delete Navigator.prototype.clipboard")
    await show(page, "/api-keys")
    await create()
    assert.strictEqual(await copy.count(), 0)
    await context.close()
  })

  it("a percent sign in the address stays a percent sign before two digits", async () => {
    const { leave, page } = await visit("/assets")
    const search = page.getByRole("searchbox", { name: "Search" })
    const searched = page.waitForRequest((request) => /\/v1\/assets\b.*[?&]search=/.test(request.url()))
    await search.fill("50%50")
    await search.press("Enter")
    assert.strictEqual(new URL((await searched).url()).searchParams.get("search"), "50%50")
    assert.strictEqual(await search.inputValue(), "50%50")
    await page.reload()
    await search.waitFor()
    assert.strictEqual(await search.inputValue(), "50%50")
    await leave()
  })
})
