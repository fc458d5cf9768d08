import { html, type Markup, raw } from "./Html.ts"
import type { Group } from "./Guides.ts"
import type { Resource } from "./Reference.ts"

/** What every page shows. */
export interface Site {
  readonly version: string
  /** The base of the URLs in answers. */
  readonly origin: string
  readonly groups: ReadonlyArray<Group>
  readonly resources: ReadonlyArray<Resource>
}

interface Page {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly content: Markup
  /** The class of the main column. */
  readonly kind: "overview" | "guide" | "reference"
}

export const mark = raw(
  `<svg xmlns="http://www.w3.org/2000/svg" class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/><path fill="#fff" d="M14.7 5.6h2.6v21.8h-2.6z"/><path fill="#fde68a" d="M8 8.4h13.2l3.6 3.3-3.6 3.3H8z"/><path fill="#99f6e4" d="M24 16.8H10.8l-3.6 3.3 3.6 3.3H24z"/></svg>`
)

export const head = (title: string, description: string): Markup =>
  html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <meta name="description" content="${description}" />
    <meta name="color-scheme" content="light dark" />
    <meta name="theme-color" content="#0f766e" />
    <link rel="icon" type="image/svg+xml" href="/docs/assets/mark.svg" />
    <link rel="stylesheet" href="/docs/assets/docs.css" />
    <script src="/docs/assets/theme.js"></script>`

const link = (path: string, here: string, text: Markup | string) =>
  html`<li><a href="${path}" ${path === here ? raw(` aria-current="page"`) : undefined}>${text}</a></li>`

export const method = (name: string): Markup =>
  html`<b class="method ${name.toLowerCase()}">${name === "DELETE" ? "DEL" : name}</b>`

/** A resource in the side bar, with its operations when its page is open, and with its modules folded. */
const resourceEntry = (site: Site, { operations, slug, title }: Resource, here: string): Markup => {
  const path = `/docs/reference/${slug}`
  const modules = site.resources.filter(({ parent }) => parent === slug)
  const own =
    path === here
      ? html`<ul class="operations">
          ${operations.map(
            ({ anchor, method: name, title }) => html`<li><a href="#${anchor}">${method(name)} ${title}</a></li>`
          )}
        </ul>`
      : undefined
  const isOpen = modules.some((each) => here === `/docs/reference/${each.slug}`)
  const folded =
    modules.length === 0
      ? undefined
      : html`<li><details${isOpen ? raw(" open") : undefined}><summary>${title.replace(/s$/, "")} modules</summary><ul>${modules.map(
          (each) => resourceEntry(site, each, here)
        )}</ul></details></li>`
  return html`<li><a href="${path}" ${path === here ? raw(` aria-current="page"`) : undefined}>${title}</a>${own}</li>
    ${folded}`
}

const sideBar = (site: Site, here: string): Markup =>
  html`<nav id="side" aria-label="Documentation">
    <ul>
      ${link("/docs", here, "Overview")}
    </ul>
    ${site.groups.map(
      ({ guides, title }) =>
        html`<h2>${title}</h2>
          <ul>
            ${guides.map(({ slug, title }) => link(`/docs/${slug}`, here, title))}
          </ul>`
    )}
    <h2>Reference</h2>
    <ul>
      ${link("/docs/reference", here, "Requests and answers")}
      ${site.resources.filter(({ parent }) => parent === undefined).map((resource) => resourceEntry(site, resource, here))}
    </ul>
  </nav>`

/** A page of the documentation: header, side bar and content. Its scripts only add to what is there without them. */
export const page = (site: Site, { content, description, kind, path, title }: Page): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        ${head(title === "Waypost" ? "Waypost documentation" : `${title} · Waypost`, description)}
        <script type="module" src="/docs/assets/docs.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header>
          <input type="checkbox" id="menu" autocomplete="off" aria-label="Menu" /><label
            for="menu"
            aria-hidden="true"
          ></label>
          <a class="brand" href="/docs">${mark}<strong>Waypost</strong> <small>${site.version}</small></a>
          <button type="button" id="open-search"><span>Search</span><kbd>/</kbd></button>
          <a class="plain" href="/v1/openapi.json">OpenAPI</a>
          <button type="button" id="theme" aria-label="Light or dark"></button>
        </header>
        ${sideBar(site, path)}
        <main id="content" class="${kind}">
          ${content}
          <footer>
            Waypost ${site.version} · <a href="/docs">Documentation</a> ·
            <a href="/v1/openapi.json">OpenAPI document</a> · MIT licence
          </footer>
        </main>
        <dialog id="search-dialog" aria-label="Search">
          <input type="search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" />
          <ol></ol>
          <p>Guides and reference. <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open.</p>
        </dialog>
      </body>
    </html> `
