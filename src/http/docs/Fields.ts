import { objectOf } from "../../domain/schema/Json.ts"
import { html, type Markup } from "./Html.ts"
import { listOf, type Resolve, textOf } from "./Json.ts"
import type { Parameter } from "./Reference.ts"
import { limitsOf, shapeOf, wordsOf } from "./Schemas.ts"

export interface Fields {
  readonly ofParameters: (parameters: ReadonlyArray<Parameter>) => Markup
  /** The members of a body; nothing when it has none. */
  readonly ofBody: (schema: unknown) => Markup | undefined
  readonly ofAnswer: (schema: unknown) => Markup | undefined
}

const maxDepth = 6
const maxValues = 16

/** `Fields: `a`, `b`.` in a description: a list that is folded. */
const longList = /Fields: ((?:`[^`\s]+`(?:, )?){8,})\.(?: |$)/

/** Renders the fields of one page. A component is shown once; other places link to it. */
export const make = (resolve: Resolve, prose: (markdown: string) => Markup): Fields => {
  const shown = new Set<string>()

  const values = (list: ReadonlyArray<unknown>, isOpen: boolean) => {
    const codes = list.map((value) => html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code> `)
    const label = isOpen ? "Known values" : "One of"
    return list.length > maxValues
      ? html`<details>
          <summary>${label} ${list.length} values</summary>
          <p class="values">${codes}</p>
        </details>`
      : html`<p class="values">${label} ${codes}</p>`
  }

  const description = (text: string) => {
    const names = longList.exec(text)?.[1]
    if (names === undefined) return text === "" ? undefined : html`<div class="prose">${prose(text)}</div>`
    const fields = names.split(", ")
    return html`<div class="prose">
        ${prose(text.replace(longList, ""))}
        <p><a href="/docs/filtering-sorting-paging">Filtering, sorting, paging</a> explains the operators.</p>
      </div>
      <details>
        <summary>${fields.length} fields</summary>
        <p class="values">${fields.map((name) => html`<code>${name.slice(1, -1)}</code> `)}</p>
      </details>`
  }

  const members = (value: unknown, depth: number, isBody: boolean): Markup | undefined => {
    const { name, node, variants } = shapeOf(resolve, value)
    if (node["type"] === "array") return members(node["items"], depth, isBody)
    const all = Object.entries(objectOf(node["properties"]))
    const properties = isBody ? all.filter(([, schema]) => shapeOf(resolve, schema).node["readOnly"] !== true) : all
    if (depth > maxDepth || (properties.length === 0 && variants.length === 0)) return undefined
    const anchor = name === undefined || properties.length <= 3 ? undefined : `schema-${name}`
    if (anchor !== undefined) {
      if (shown.has(anchor)) return html`<p class="as"><a href="#${anchor}">Members of ${name}</a></p>`
      shown.add(anchor)
    }
    const required = listOf(node["required"])
    const list = properties.map(([member, schema]) =>
      field(member, schema, required.includes(member), "", depth, isBody)
    )
    const alternatives = variants.map((variant) => {
      const inner = members(variant, depth + 1, isBody)
      return (
        inner &&
        html`<li class="field">
          <p class="variant">${titleOf(variant)}</p>
          ${inner}
        </li>`
      )
    })
    return html`<ul class="fields" ${anchor === undefined ? undefined : html` id="${anchor}"`}>
      ${list}${alternatives}
    </ul>`
  }

  /** The name of a variant: the one value of a member, such as `model: "fixed"`, or what an answer has. */
  const titleOf = (variant: unknown) => {
    const { name, node } = shapeOf(resolve, variant)
    const kinds = Object.entries(objectOf(node["properties"])).flatMap(([member, schema]) => {
      const { node: inner } = shapeOf(resolve, schema)
      const list = "const" in inner ? [inner["const"]] : listOf(inner["enum"])
      // Every success has this tag.
      return list.length === 1 && list[0] !== "Success" ? [`${member}: ${JSON.stringify(list[0])}`] : []
    })
    const { items } = shapeOf(resolve, objectOf(node["properties"])["data"]).node
    const item = shapeOf(resolve, items).name
    return kinds[0] ?? name ?? (item === undefined ? "or" : `data: array of ${item}`)
  }

  const field = (
    name: string,
    schema: unknown,
    isRequired: boolean,
    text: string,
    depth: number,
    isBody: boolean
  ): Markup => {
    const { node } = shapeOf(resolve, schema)
    const listed = listOf(node["enum"])
    const [example] = listOf(node["examples"])
    const shown = typeof example === "string" ? example : JSON.stringify(example)
    const limits = [...limitsOf(node), ...(example === undefined ? [] : [`example ${shown}`])]
    const inner = members(schema, depth + 1, isBody)
    return html`<li class="field">
      <p class="head">
        <code>${name}</code>
        <span>${wordsOf(resolve, schema)}</span>${isRequired ? html` <em>required</em>` : undefined}
      </p>
      ${description(text === "" ? (textOf(node["description"]) ?? "") : text)}
      ${limits.length === 0 ? undefined : html`<p class="limits">${limits.join(" · ")}</p>`}
      ${listed.length > 1 ? values(listed, node["isOpen"] === true) : undefined}
      ${
        inner === undefined
          ? undefined
          : html`<details>
              <summary>Members of <code>${name}</code></summary>
              ${inner}
            </details>`
      }
    </li>`
  }

  return {
    ofParameters: (parameters) =>
      html`<ul class="fields">
        ${parameters.map(({ description, isRequired, name, schema }) => field(name, schema, isRequired, description, maxDepth, true))}
      </ul>`,
    ofBody: (schema) => members(schema, 0, true),
    ofAnswer: (schema) => members(schema, 0, false)
  }
}
