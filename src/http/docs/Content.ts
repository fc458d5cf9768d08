import { type Json, objectOf } from "../../domain/schema/Json.ts"
import { html, type Markup } from "./Html.ts"
import type { Group, Guide } from "./Guides.ts"
import { textOf } from "./Json.ts"
import { code } from "./Code.ts"
import { render } from "./Markdown.ts"
import type { Resource } from "./Reference.ts"
import { mark, type Site } from "./Shell.ts"

const firstRequest = (origin: string) => `export URL=${origin}
export KEY=wp_…    # printed at the first start

curl "$URL/v1/locations?limit=10" -H "Authorization: $KEY"`

const guideCard = ({ slug, summary, title }: Guide) =>
  html`<li>
    <a href="/docs/${slug}"><strong>${title}</strong><span>${summary}</span></a>
  </li>`

const resourceCard = ({ description, operations, slug, title }: Resource) =>
  html`<li>
    <a href="/docs/reference/${slug}"
      ><strong>${title}</strong><span>${description}</span><small>${operations.length} operations</small></a
    >
  </li>`

/** The first page: every guide and every resource. */
export const overview = ({ groups, origin, resources, version }: Site): Markup =>
  html`<div class="hero">
      <div>
        <h1>Waypost documentation</h1>
        <p class="lead">
          Content and location management for a brand with many branches: locations, people, brand material, products
          and posts, behind one HTTP API.
        </p>
        <p class="actions">
          <a class="button" href="/docs/concepts">Concepts</a>
          <a class="button quiet" href="/docs/reference/locations">Reference</a>
        </p>
      </div>
      <div class="first">
        <p>Your first request</p>
        ${code(firstRequest(origin), "sh")}
      </div>
    </div>
    ${groups.map(
      ({ guides, title }: Group) =>
        html`<h2>${title}</h2>
          <ul class="cards">
            ${guides.map(guideCard)}
          </ul>`
    )}
    <h2>Reference</h2>
    <ul class="cards">
      ${resources.filter(({ parent }) => parent === undefined).map(resourceCard)}
    </ul>
    <p class="version">Version ${version}</p>`

/** A guide with the list of its sections. */
export const guide = ({ headings, markdown }: Guide): Markup => {
  const sections = headings.filter(({ depth }) => depth === 2)
  return html`<article class="prose">${render(markdown)}</article>
    ${
      sections.length < 2
        ? undefined
        : html`<aside aria-label="On this page">
            <h2>On this page</h2>
            <ul>
              ${sections.map(({ anchor, text }) => html`<li><a href="#${anchor}">${text}</a></li>`)}
            </ul>
          </aside>`
    }`
}

/** What holds for every operation: the description of the API. */
export const general = (document: Json): Markup =>
  html`<article class="prose">
    <h1>Requests and answers</h1>
    ${render(textOf(objectOf(document["info"])["description"]) ?? "")}
    <p>
      <a href="/docs/errors">Errors</a> explains every <code>_tag</code>. The
      <a href="/v1/openapi.json">OpenAPI document</a> describes all operations for generators and other tools.
    </p>
  </article>`

/** The page at `/`. */
export const home = (version: string): Markup =>
  html`<main class="home">
    <p class="brand">${mark}</p>
    <h1>Waypost</h1>
    <p class="lead">Content and location management service <small>version ${version}</small></p>
    <ul class="cards">
      <li>
        <a href="/console"><strong>Console</strong><span>Tables, forms and a map, with an API key</span></a>
      </li>
      <li>
        <a href="/docs"><strong>Documentation</strong><span>Guides, and every operation with samples</span></a>
      </li>
      <li>
        <a href="/v1/openapi.json"><strong>OpenAPI document</strong><span>For generators and other tools</span></a>
      </li>
      <li>
        <a href="/readyz"><strong>Readiness</strong><span>Whether database and storage answer</span></a>
      </li>
    </ul>
  </main>`
