import { Marked, type Token, type Tokens } from "marked"
import { code } from "./Code.ts"
import { hasGuide } from "./Files.ts"
import { html, type Markup, raw } from "./Html.ts"

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-")

/** Where a link of a guide leads on this site; nothing when its target is only in the repository. */
const targetOf = (href: string): string | undefined => {
  const [path = "", anchor] = href.split("#")
  const end = anchor === undefined ? "" : `#${anchor}`
  if (path === "" || path.startsWith("https:")) return href
  const here = /^http:\/\/localhost:3000(\/.*)?$/.exec(path)
  if (here !== null) return `${here[1] ?? "/"}${end}`
  if (path === "README.md") return `/docs${end}`
  if (path === "../openapi.json") return "/v1/openapi.json"
  const guide = /^([a-z-]+)\.md$/.exec(path)?.[1]
  if (guide !== undefined) return hasGuide(guide) ? `/docs/${guide}${end}` : undefined
  return /^[a-z]+:/.test(path) ? href : undefined
}

const errorName = /^[A-Z]\w+Error$/

export interface Heading {
  readonly depth: number
  readonly text: string
  readonly anchor: string
}

export const plainText = (tokens: ReadonlyArray<Token>): string =>
  tokens
    .map((token) => {
      if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens)
      return "text" in token ? String(token.text) : ""
    })
    .join("")

/** Headings of a document, with their anchors. */
export const headingsOf = (markdown: string): ReadonlyArray<Heading> =>
  new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === "heading")
    .map(({ depth, tokens }) => ({ depth, text: plainText(tokens), anchor: anchorOf(plainText(tokens)) }))

/** Renders one document. The first time that an error is named in a table, it gets an anchor. */
const renderer = () => {
  const named = new Set<string>()
  let isTable = false
  return new Marked({
    renderer: {
      heading({ depth, tokens }) {
        const anchor = anchorOf(plainText(tokens))
        const text = this.parser.parseInline(tokens)
        return depth === 1
          ? `<h1>${text}</h1>\n`
          : `<h${depth} id="${anchor}"><a href="#${anchor}">${text}</a></h${depth}>\n`
      },
      code({ lang, text }) {
        const [language] = (lang ?? "").split(/\s/)
        return `${(language === "" ? code(text) : code(text, language)).markup}\n`
      },
      codespan({ text }) {
        const isNamed = isTable && errorName.test(text) && !named.has(text)
        if (isNamed) named.add(text)
        return html`<code${isNamed ? html` id="${text}"` : undefined}>${text}</code>`.markup
      },
      table(token) {
        isTable = true
        const cells = (row: ReadonlyArray<Tokens.TableCell>, tag: string) =>
          `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`
        const table = `<div class="table" tabindex="0"><table><thead>${cells(token.header, "th")}</thead><tbody>${token.rows
          .map((row) => cells(row, "td"))
          .join("\n")}</tbody></table></div>\n`
        isTable = false
        return table
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const target = targetOf(href)
        return target === undefined ? text : html`<a href="${target}">${raw(text)}</a>`.markup
      },
      html({ text }) {
        return /^\s*<!--/.test(text) ? "" : text
      }
    }
  })
}

/** A sentence as HTML, without a paragraph around it. */
export const renderInline = (markdown: string): Markup => raw(renderer().parseInline(markdown, { async: false }))

/** A document as HTML. */
export const render = (markdown: string): Markup => raw(renderer().parse(markdown, { async: false }))
