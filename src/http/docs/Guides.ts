import { marked, type Token, type Tokens } from "marked"
import { readFileSync } from "node:fs"
import { fileOf, hasGuide } from "./Files.ts"
import { type Heading, headingsOf, plainText } from "./Markdown.ts"

export interface Guide {
  readonly slug: string
  readonly title: string
  readonly summary: string
  readonly markdown: string
  readonly headings: ReadonlyArray<Heading>
}

export interface Group {
  readonly title: string
  readonly guides: ReadonlyArray<Guide>
}

const isList = (token: Token): token is Tokens.List => token.type === "list"
const isLink = (token: Token): token is Tokens.Link => token.type === "link"

/** The guide that an element of the list in docs/README.md links to: `[Title](file.md): summary`. */
const guideOf = ({ tokens }: Tokens.ListItem): ReadonlyArray<Guide> => {
  const inline = tokens.flatMap((token) => ("tokens" in token ? (token.tokens ?? []) : []))
  const link = inline.find(isLink)
  const slug = link === undefined ? undefined : /^([a-z-]+)\.md$/.exec(link.href)?.[1]
  if (link === undefined || slug === undefined || !hasGuide(slug)) return []
  const markdown = readFileSync(fileOf(slug), "utf8")
  const summary = plainText(inline.slice(inline.indexOf(link) + 1))
    .replace(/^:\s*/, "")
    .replace(/^[a-z]/, (letter) => letter.toUpperCase())
  return [{ slug, title: plainText(link.tokens), summary, markdown, headings: headingsOf(markdown) }]
}

/** Reads the guides of `docs`, in the groups and the order of its README; none where the folder was not installed. */
export const read = (): ReadonlyArray<Group> => {
  if (!hasGuide("README")) return []
  const groups: Array<{ readonly title: string; readonly guides: Array<Guide> }> = []
  for (const token of marked.lexer(readFileSync(fileOf("README"), "utf8"))) {
    if (token.type === "heading" && token.depth === 2) groups.push({ title: token.text, guides: [] })
    if (isList(token)) groups.at(-1)?.guides.push(...token.items.flatMap(guideOf))
  }
  return groups.filter(({ guides }) => guides.length > 0)
}
