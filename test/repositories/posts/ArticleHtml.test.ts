import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { sanitise } from "../../../src/repositories/posts/ArticleHtml.ts"
import { attacks } from "./HtmlAttacks.ts"
import { property } from "../../support/Runs.ts"
import { cpuMillis } from "../../support/CpuTime.ts"

const clean = (html: string) => Result.getOrThrow(sanitise(html))

const tags = new Set(
  `h1 h2 h3 h4 h5 h6 p br hr blockquote pre div section aside ul ol li dl dt dd figure figcaption img a table caption
  colgroup col thead tbody tfoot tr th td strong b em i u s del ins mark small sub sup span abbr cite code kbd q samp
  time var wbr bdi`.split(/\s+/)
)
const attributes = new Set(
  `lang dir href title rel target cite src alt width height loading start reversed value datetime span colspan rowspan
  scope`.split(/\s+/)
)

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' }
const decoded = (value: string) => value.replaceAll(/&\w+;/g, (entity) => entities[entity] ?? entity)

/** A tag or a character of text, strict enough that all browsers parse a match identically. */
const piece = /<(?<tag>\/?[a-z1-6]+)(?<attributes>(?: [a-z]+(?:="[^"<>]*")?)*)(?: \/)?>|[^<>]/uy

/** The forbidden constructs in HTML. */
const forbidden = (html: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const matches = [...html.matchAll(new RegExp(piece, "guy"))]
  if (matches.reduce((length, [text]) => length + text.length, 0) !== html.length) found.push("a stray < or >")
  for (const { groups } of matches) {
    const name = groups?.["tag"]?.replace("/", "")
    if (name === undefined) continue
    if (!tags.has(name)) found.push(`<${name}>`)
    const attribs = [...groups!["attributes"]!.matchAll(/ (?<name>[a-z]+)(?:="(?<value>[^"]*)")?/g)].map(
      ({ groups }) => [groups!["name"]!, decoded(groups!["value"] ?? "")] as const
    )
    for (const [attribute, value] of attribs) {
      if (!attributes.has(attribute)) found.push(`${name} ${attribute}`)
      if (!["href", "src", "cite"].includes(attribute)) continue
      const { host, protocol } = new URL(value, "https://portal.example/posts/1")
      const allowed = name === "img" ? ["https:"] : ["http:", "https:", "mailto:", "tel:"]
      if (!allowed.includes(protocol)) found.push(`${name} ${attribute}=${value}`)
      if (host === "evil.example" && !/^https?:/.test(value)) found.push(`${name} to ${value}`)
    }
    const { rel, src = "" } = Object.fromEntries(attribs)
    if (name === "img" && !/^https:/i.test(src)) found.push(`img from ${src}`)
    if (groups!["tag"] === "a" && rel !== "noopener noreferrer") found.push(`a rel=${rel}`)
  }
  return found
}

const article = `<h2>Spring</h2><p lang="nl">Hello <strong>world</strong>, <em>and</em> more.<br />Line</p>
<ul><li>One</li><li>Two <a href="https://example.com/a?b=1&amp;c=2" title="T" target="_blank" rel="noopener noreferrer">link</a></li></ul>
<ol start="3"><li>Three</li></ol><blockquote cite="https://example.com">Quote</blockquote>
<figure><img src="https://cdn.example.com/a.png" alt="" width="300" height="200" loading="lazy" /><figcaption>A</figcaption></figure>
<table><caption>C</caption><thead><tr><th scope="col" colspan="2">H</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<p><a href="mailto:info@example.com" rel="noopener noreferrer">mail</a> <a href="tel:+31301234567" rel="noopener noreferrer">call</a></p>
<pre><code>a &lt; b &amp;&amp; c</code></pre><hr />`

/** Random sequences of pieces that are difficult to parse. */
const Pieces = Schema.Array(
  Schema.Union([
    Schema.Literals(["<", ">", "</", "/>", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "=", '"', "'", "`", "&", ";"]),
    Schema.Literals([
      "<p>",
      "</p>",
      "<b ",
      "<a href=",
      "<img src=https://a ",
      "<svg>",
      "<math>",
      "<style>",
      "</style>"
    ]),
    Schema.Literals([
      "<noscript>",
      "</noscript>",
      "<table>",
      "<select>",
      "<iframe>",
      "<title>",
      "<script>",
      "</script>"
    ]),
    Schema.Literals(["&#824;", "\u0338", "&#1;", "&lt;", "&amp;", "&Tab;", "&colon;", " onerror=alert(1) ", "\u0301"]),
    Schema.Literals(["javascript:", "data:", "//evil.example", " ", "\n", "\t", "x", "é", "🥐"]),
    Schema.String
  ])
)

describe("sanitised article HTML", () => {
  it("allowed HTML is unchanged", () => {
    assert.strictEqual(clean(article), article)
    assert.deepStrictEqual(forbidden(article), [])
    assert.strictEqual(clean("a < b & c"), "a &lt; b &amp; c")
    assert.strictEqual(clean("<p>open<b>x"), "<p>open<b>x</b></p>")
  })

  it.each(attacks)("an attack is removed: %s", (attack) => {
    for (const html of [
      attack,
      `<p>before</p>${attack}<p>after</p>`,
      `<b title='${attack}'>x</b>`,
      `<table>${attack}`
    ]) {
      const cleaned = clean(html)
      assert.deepStrictEqual(forbidden(cleaned), [], cleaned)
      assert.strictEqual(clean(cleaned), cleaned)
    }
  })

  it("the text of removed elements is kept, except that of scripts and styles", () => {
    assert.strictEqual(clean("<custom>Hello</custom> <font color=red>there</font>"), "Hello there")
    assert.strictEqual(clean("a<script>b</script>c<style>d</style>e<svg><text>f</text></svg>g"), "aceg")
    assert.strictEqual(clean('<p onclick="x" class="y" id="z" style="color:red">Hi</p>'), "<p>Hi</p>")
    assert.strictEqual(clean("<a href='javascript:x'>Hi</a>"), '<a rel="noopener noreferrer">Hi</a>')
    assert.strictEqual(clean("<img src='http://a.example/x.png' alt='x'>"), "")
  })

  it("forbidden characters are removed, also when written as references", () => {
    assert.strictEqual(clean("<b>&#1;a&#13;e&#769;&#x200B;</b>"), "<b>aé\u200b</b>")
    assert.notMatch(clean("<b>&#0;&#xD800;&#127;</b>"), /(?![\n\t])\p{Cc}|\p{Cs}/u)
  })

  it.prop(
    "sanitising random HTML is idempotent and leaves nothing forbidden",
    [Arbitrary.schema(Pieces)],
    ([pieces]) => {
      const result = sanitise(pieces.join(""))
      if (Result.isFailure(result)) return
      assert.strictEqual(clean(result.success), result.success)
      assert.deepStrictEqual(forbidden(result.success), [], pieces.join(""))
    },
    property(3000, 40)
  )

  it("sanitising deeply nested HTML takes bounded time", () => {
    const longest = (piece: string) => piece.repeat(Math.ceil(200_000 / piece.length)).slice(0, 200_000)
    for (const piece of ["<b>", "<svg><math>", "<iframe>", "<noscript></div>", "<table><tr><td>", "</p>", "<dd><dl>"]) {
      const start = cpuMillis()
      sanitise(longest(piece))
      assert.isBelow(cpuMillis() - start, 5000, piece)
    }
  })
})
