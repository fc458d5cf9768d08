import type { Browser, BrowserContext, Page } from "playwright-core"
import type * as Service from "../support/Service.ts"
import { open } from "./Browser.ts"

interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  readonly problems: ReadonlyArray<string>
}

export interface Options {
  readonly key?: string
  readonly width?: number
  /** The first language of the browser. */
  readonly locale?: string
  /** The language that was chosen in the console. */
  readonly language?: string
  /** The time zone of the browser. */
  readonly timezoneId?: string
}

/** A request that a screen no longer needs is aborted. */
export const isOwn = (problem: string) => !problem.endsWith("net::ERR_ABORTED")

/** How long a screen may take on a busy machine. */
export const waitMillis = 15_000

/** Opens a page of the console with a key for the tab, as if a user had signed in. */
export const visit = async (
  { browser, service }: { readonly browser: Browser; readonly service: Service.Service },
  path: string,
  { key = service.key, language, locale = "en-US", timezoneId = "UTC", width = 1280 }: Options = {}
): Promise<Visit> => {
  const chosen = language === undefined ? "" : `localStorage.setItem("waypost-language", "${language}")`
  // It runs before each document of the tab; only the first one of the service is signed in by it.
  const signIn = `if (location.protocol === "http:" && sessionStorage.getItem("visited") === null) {
    sessionStorage.setItem("visited", "yes")
    sessionStorage.setItem("waypost-key", "${key}")
    ${chosen}
  }`
  const opened = await open(
    browser,
    `${service.url}/console${path}`,
    { locale, timezoneId, viewport: { width, height: 800 } },
    signIn
  )
  opened.page.setDefaultTimeout(waitMillis)
  await opened.page.waitForSelector("#content h1")
  return opened
}

/** Rejects the requests of a page to an address. The client does not repeat them. */
export const reject = (page: Page, address: RegExp) =>
  page.route(address, (route) =>
    route.fulfill({
      status: 400,
      json: { _tag: "InvalidRequestError", message: "Rejected by the test", issues: [], requestId: "" }
    })
  )

/** Has a page read again what it shows, as it does when its computer is connected again after a minute. */
export const readAgain = async (page: Page) => {
  await page.clock.setFixedTime(Date.now() + 60_000)
  await page.context().setOffline(true)
  await page.context().setOffline(false)
}
