import type { Browser, BrowserContext, Page } from "playwright-core"
import type * as Service from "../support/Service.ts"
import { problemsOf, waitMillis } from "./Browser.ts"

interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  readonly problems: ReadonlyArray<string>
  /** Leaves the page to a later visit. A test that changes more than the page closes its context instead. */
  readonly leave: () => Promise<void>
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

/**
 * The pages that visits have left, by what a visit cannot change: a page that has shown the console shows it again for half of the
 * work of a new one.
 */
const left = new WeakMap<Browser, Map<string, Array<Page>>>()

/** The events that tests listen to. */
const events = ["console", "dialog", "pageerror", "request", "requestfailed"]

/**
 * Keeps the notices of the console, which are gone before a busy machine looks for them. Their timers are the only ones of the
 * console that pass a value on.
 */
const keepNotices = `const { setTimeout } = window
  window.setTimeout = (run, millis, ...values) => (values.length > 0 ? 0 : setTimeout(run, millis))`

/** Opens a page of the console with a key for the tab, as if a user had signed in. */
export const visit = async (
  { browser, service }: { readonly browser: Browser; readonly service: Service.Service },
  path: string,
  { key = service.key, language, locale = "en-US", timezoneId = "UTC", width = 1280 }: Options = {}
): Promise<Visit> => {
  const pages = left.get(browser) ?? new Map<string, Array<Page>>()
  left.set(browser, pages)
  const kind = [service.url, locale, timezoneId].join()
  const free = pages.get(kind) ?? []
  pages.set(kind, free)
  // A small page, which has the storage of the console.
  const empty = `${service.url}/healthz`
  const opened = async () => {
    const context = await browser.newContext({ locale, timezoneId })
    await context.addInitScript(keepNotices)
    const page = await context.newPage()
    page.setDefaultTimeout(waitMillis)
    await page.goto(empty)
    return page
  }
  const page = free.pop() ?? (await opened())
  await page.setViewportSize({ width, height: 800 })
  const chosen = language === undefined ? "" : `localStorage.setItem("waypost-language", "${language}")`
  await page.evaluate(`sessionStorage.clear()
    localStorage.clear()
    sessionStorage.setItem("waypost-key", "${key}")
    ${chosen}`)
  const problems = problemsOf(page)
  await page.goto(`${service.url}/console${path}`)
  await page.waitForSelector("#content h1")
  const leave = async () => {
    for (const event of events) page.removeAllListeners(event)
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await page.mouse.move(0, 0)
    await page.goto(empty)
    free.push(page)
  }
  return { context: page.context(), page, problems, leave }
}

/** Shows another screen as a link to it does, for less work than to load the console again; notices and what was read stay. */
export const show = (page: Page, path: string) => page.evaluate(`history.pushState(null, "", "/console${path}")`)

const rejection = { _tag: "InvalidRequestError", message: "Rejected by the test", issues: [], requestId: "" }

/** Rejects the requests of a page to an address, or only those of a method. The client does not repeat them. */
export const reject = (page: Page, address: RegExp, method?: string) =>
  page.route(address, (route) =>
    method === undefined || route.request().method() === method
      ? route.fulfill({ status: 400, json: rejection })
      : route.fallback()
  )

/** Answers the requests of a page to an address as those with a key that is no longer accepted. */
export const endKey = (page: Page, address: RegExp, method: string) =>
  page.route(address, (route) =>
    route.request().method() === method
      ? route.fulfill({ status: 401, json: { ...rejection, _tag: "UnauthorizedError" } })
      : route.fallback()
  )

/** Rejects the first request of a page to an address, and answers the second one with a 412 as after a change by another client. */
export const rejectTwice = (page: Page, address: RegExp) => {
  const changed = { _tag: "PreconditionFailedError", message: "", requestId: "" }
  const answers = [
    { status: 400, json: rejection },
    { status: 412, json: changed }
  ]
  // The route stays: a request that is sent while the last one of a page is removed can be left without an answer.
  return page.route(address, (route) => {
    const answer = answers.shift()
    return answer === undefined ? route.continue() : route.fulfill(answer)
  })
}

/** Has a page read again what it shows, as it does when its computer is connected again after a minute. */
export const readAgain = async (page: Page) => {
  await page.clock.setFixedTime(Date.now() + 60_000)
  await page.context().setOffline(true)
  await page.context().setOffline(false)
}
