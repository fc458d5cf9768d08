import type { Json } from "../../domain/schema/Json.ts"
import { Cache, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"
import { openApi } from "../../api/Api.ts"
import { installed } from "../../settings/Installation.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { version } from "../../settings/Version.ts"
import * as SharedPage from "../routes/SharedPage.ts"
import { noRoute } from "../transport/Failures.ts"
import type { Route } from "../transport/RouteTable.ts"
import * as Content from "./Content.ts"
import * as Guides from "./Guides.ts"
import { html, type Markup } from "./Html.ts"
import { resourcePage } from "./Operations.ts"
import { type Reference, referenceOf, type Resource } from "./Reference.ts"
import { searchRecords } from "./SearchRecords.ts"
import { head, mark, page, type Site } from "./Shell.ts"

const pages = [
  SharedPage.get("/"),
  SharedPage.get("/docs"),
  SharedPage.get("/docs/:guide"),
  SharedPage.get("/docs/reference/:resource"),
  SharedPage.get("/docs/assets/:file")
] as const

export const routes: ReadonlyArray<Route> = pages

const policy = SharedPage.policyOf()

const bytes = (text: string, contentType: string) =>
  HttpServerResponse.uint8Array(Buffer.from(text), { contentType, headers: { "content-security-policy": policy } })

const document = ({ markup }: Markup) => bytes(markup, "text/html; charset=utf-8")

interface Sources extends Site, Reference {
  readonly document: Json
}

const sources = (origin: string): Sources => {
  const document: Json = { ...openApi() }
  return { version: version(), origin, groups: Guides.read(), document, ...referenceOf(document) }
}

const own = (name: string) => readFileSync(installed(`src/http/docs/assets/${name}`), "utf8")

const javascript = "text/javascript; charset=utf-8"

/** Files that pages load. */
const assets: Readonly<Record<string, (sources: Sources) => HttpServerResponse.HttpServerResponse>> = {
  "docs.css": () => bytes(own("docs.css"), "text/css; charset=utf-8"),
  "docs.js": () => bytes(own("docs.js"), javascript),
  "theme.js": () => bytes(own("theme.js"), javascript),
  "search.js": () => bytes(own("search.js"), javascript),
  "try.js": () => bytes(own("try.js"), javascript),
  "mark.svg": () => bytes(mark.markup, "image/svg+xml"),
  "minisearch.js": () => bytes(readFileSync(new URL(import.meta.resolve("minisearch")), "utf8"), javascript),
  "search.json": ({ groups, resolve, resources }) =>
    bytes(JSON.stringify(searchRecords(groups, resources, resolve)), "application/json")
}

const reference = "/docs/reference"

/** Every page with its path. */
const pagesOf = (site: Sources): ReadonlyMap<string, () => HttpServerResponse.HttpServerResponse> =>
  new Map([
    ["/", () => document(homePage(site))],
    ["/docs", () => document(overviewPage(site))],
    [reference, () => document(generalPage(site))],
    ...site.groups.flatMap(({ guides }) =>
      guides.map((guide) => [`/docs/${guide.slug}`, () => document(guidePage(site, guide))] as const)
    ),
    ...site.resources.map(
      (resource) => [`${reference}/${resource.slug}`, () => document(referencePage(site, resource))] as const
    ),
    ...Object.entries(assets).map(([name, make]) => [`/docs/assets/${name}`, () => make(site)] as const)
  ])

const homePage = ({ version }: Sources) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        ${head("Waypost", "Content and location management service")}
      </head>
      <body>
        ${Content.home(version)}
      </body>
    </html> `

const overviewPage = (site: Sources) => {
  const description = "Guides and reference of the Waypost API."
  return page(site, { path: "/docs", title: "Waypost", description, content: Content.overview(site), kind: "overview" })
}

const generalPage = (site: Sources) => {
  const content = Content.general(site.document)
  const description = "What holds for every operation of the API."
  return page(site, { path: reference, title: "Requests and answers", description, content, kind: "guide" })
}

const guidePage = (site: Sources, guide: Guides.Guide) => {
  const { slug, summary: description, title } = guide
  return page(site, { path: `/docs/${slug}`, title, description, content: Content.guide(guide), kind: "guide" })
}

const referencePage = (site: Sources, resource: Resource) => {
  const { description, slug, title } = resource
  const content = resourcePage(resource, site.resolve)
  return page(site, { path: `${reference}/${slug}`, title, description, content, kind: "reference" })
}

/** The front page and the documentation. A page is rendered for its first reader; what it says only changes with the version. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const share = yield* SharedPage.make
    const { origin } = yield* PublicUrl
    const known = yield* Effect.cached(Effect.sync(() => pagesOf(sources(origin))))
    const rendered = yield* Cache.make({
      capacity: Number.MAX_SAFE_INTEGER,
      lookup: (path: string) => Effect.map(known, (all) => all.get(path)?.())
    })
    const answer = Effect.fnUntraced(function* (path: string) {
      // Only known paths take a place in the cache.
      const response = (yield* known).has(path) ? yield* Cache.get(rendered, path) : undefined
      return response === undefined ? yield* Effect.die(noRoute) : yield* share(response)
    })
    for (const { method, path } of pages) {
      const respond = Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
        answer(path.replace(/:(\w+)/, (_, name: string) => params[name] ?? ""))
      )
      yield* router.add(method, path, respond)
    }
  })
)
