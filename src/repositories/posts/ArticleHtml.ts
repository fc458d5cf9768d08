import { Result } from "effect"
import sanitize from "sanitize-html"

/** The elements of an article. All others are removed; those that could run or load something, with their content. */
const allowed: sanitize.IOptions = {
  allowedTags: [
    ["h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "div", "section", "aside"],
    ["ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "img", "a"],
    ["table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"],
    ["strong", "b", "em", "i", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "span"],
    ["abbr", "cite", "code", "kbd", "q", "samp", "time", "var", "wbr", "bdi"]
  ].flat(),
  allowedAttributes: {
    "*": ["lang", "dir"],
    a: ["href", "title", "rel", { name: "target", values: ["_blank"] }],
    abbr: ["title"],
    blockquote: ["cite"],
    q: ["cite"],
    img: ["src", "alt", "title", "width", "height", { name: "loading", values: ["lazy", "eager"] }],
    ol: ["start", "reversed"],
    li: ["value"],
    time: ["datetime"],
    col: ["span"],
    colgroup: ["span"],
    th: ["colspan", "rowspan", "scope"],
    td: ["colspan", "rowspan"]
  },
  allowedSchemes: ["http", "https", "mailto", "tel"],
  allowedSchemesByTag: { img: ["https"] },
  allowProtocolRelative: false,
  nonTextTags: [
    ["script", "style", "template", "noscript", "title", "textarea", "option", "select", "xmp", "plaintext"],
    ["iframe", "noembed", "noframes", "object", "svg", "math"]
  ].flat(),
  // A page opened in a new window could otherwise navigate this one.
  transformTags: { a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: "noopener noreferrer" } }) },
  // A relative address would resolve against the page that shows the article.
  exclusiveFilter: ({ attribs, tag }) => tag === "img" && !/^https:/i.test(attribs["src"] ?? ""),
  nestingLimit: 50
}

/** Normalised like every stored text; a character reference can stand for a character that is not allowed. */
const normalised = (html: string) =>
  html
    .toWellFormed()
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .normalize("NFC")
    .trim()

const rounds = 5

/**
 * The HTML of an article without anything that could run, load or imitate something.
 *
 * Normalising text can change how it parses, so both are repeated until neither changes anything; text that does not
 * become stable fails. Sanitising the result again therefore returns it unchanged.
 */
export const sanitise = (html: string): Result.Result<string, "unstable"> => {
  let current = html
  for (let round = 0; round < rounds; round++) {
    const sanitised = sanitize(current, allowed)
    const next = normalised(sanitised)
    if (sanitised === current && next === current) return Result.succeed(current)
    current = next
  }
  return Result.fail("unstable")
}
