import chromium from "@sparticuz/chromium"
import { type BrowserContextOptions, type Browser, chromium as playwright, type Page } from "playwright-core"

/**
 * The package turns off the same-origin policy, which these tests need, ends the browser with its first context, and loads the whole
 * program anew for each page.
 */
const unwanted = new Set(["--disable-web-security", "--single-process", "--no-zygote"])

// Nothing that is tested draws with WebGL.
chromium.setGraphicsMode = false

/** How many milliseconds a page may take for what a test waits for: a busy machine is slower than the 30 seconds of Playwright. */
export const waitMillis = 240_000

/** Starts the headless browser. */
export const launch = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((arg) => !unwanted.has(arg)), "--no-sandbox", "--disable-gpu"],
    headless: true
  })

/** Collects the errors that the browser reports for a page. */
export const problemsOf = (page: Page) => {
  const problems: Array<string> = []
  page.on("console", (message) => void (message.type() === "error" && problems.push(message.text())))
  page.on("pageerror", (error) => void problems.push(error.message))
  page.on(
    "requestfailed",
    (request) => void problems.push(`${request.method()} ${request.url()} ${request.failure()?.errorText}`)
  )
  return problems
}

/** Opens a page in a profile of its own, after a script, and collects the errors that the browser reports. */
export const open = async (browser: Browser, url: string, options: BrowserContextOptions = {}, script = "") => {
  const context = await browser.newContext({ viewport: { width: 900, height: 760 }, ...options })
  context.setDefaultTimeout(waitMillis)
  await context.addInitScript(script)
  const page = await context.newPage()
  const problems = problemsOf(page)
  await page.goto(url)
  return { context, page, problems }
}
