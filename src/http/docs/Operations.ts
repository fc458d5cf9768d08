import { objectOf } from "../../domain/schema/Json.ts"
import * as Fields from "./Fields.ts"
import { html, type Markup } from "./Html.ts"
import { listOf, type Resolve, textOf } from "./Json.ts"
import { code } from "./Code.ts"
import { render, renderInline } from "./Markdown.ts"
import type { Operation, Parameter, Resource } from "./Reference.ts"
import { clientOf, curlOf } from "./Samples.ts"
import { shapeOf } from "./Schemas.ts"
import { method } from "./Shell.ts"

const placeNames: Readonly<Record<string, string>> = { path: "Path", query: "Query", header: "Headers" }

/** The tags of an error, as links into the guide to errors; its description when the schema has none. */
const errors = (resolve: Resolve, { description, media }: Operation["responses"][number]) => {
  const { variants } = shapeOf(resolve, media?.schema)
  const tags = (variants.length === 0 ? [media?.schema] : variants).flatMap((variant) => {
    const { node: tag } = shapeOf(resolve, objectOf(shapeOf(resolve, variant).node["properties"])["_tag"])
    return textOf(tag["const"] ?? listOf(tag["enum"])[0]) ?? []
  })
  return tags.length === 0
    ? renderInline(description)
    : html`${tags.map((tag) => html`<a href="/docs/errors#${tag}"><code>${tag}</code></a> `)}`
}

const answers = ({ responses }: Operation, fields: Fields.Fields, resolve: Resolve) =>
  responses.map((response) => {
    const { description, media, status } = response
    if (status === "default")
      return html`<p class="answer"><a href="/docs/errors#any-operation">Errors of any operation</a></p>`
    const isError = !status.startsWith("2")
    const members = isError || media === undefined ? undefined : fields.ofAnswer(media.schema)
    const label = html`<b class="status s${status.charAt(0)}">${status}</b>
      ${isError ? errors(resolve, response) : renderInline(description)}`
    return members === undefined
      ? html`<p class="answer">${label}</p>`
      : html`<details class="answer">
          <summary>${label}</summary>
          ${members}
        </details>`
  })

/** An empty field for a parameter: nothing is sent that the reader did not enter. */
const input = (operation: Operation, { isRequired, name, place, schema }: Parameter) => {
  const id = `try-${operation.anchor}-${name}`
  const attributes = html`id="${id}" name="${name}" data-in="${place}"${isRequired ? html` required` : undefined}`
  const values = listOf(schema["enum"]).flatMap((value) => textOf(value) ?? [])
  const field =
    values.length > 0
      ? html`<select ${attributes}>
          <option></option>
          ${values.map((value) => html`<option>${value}</option>`)}
        </select>`
      : html`<input ${attributes} autocomplete="off" spellcheck="false" />`
  return html`<label for="${id}"><code>${name}</code>${isRequired ? html` <em>required</em>` : undefined}</label
    >${field}`
}

/** A form that sends the request to this service. */
const tryOut = (operation: Operation) => {
  const { anchor, body, method: verb, parameters, path } = operation
  return html`<details class="try">
    <summary>Try it</summary>
    <form data-method="${verb}" data-path="${path}">
      <label for="try-${anchor}-key">API key</label
      ><input id="try-${anchor}-key" type="password" data-key autocomplete="off" required />
      ${parameters.map((parameter) => input(operation, parameter))}
      ${
        body === undefined
          ? undefined
          : html`<label for="try-${anchor}-body">Body</label
              ><textarea id="try-${anchor}-body" rows="8" spellcheck="false">
${JSON.stringify(body.example ?? {}, undefined, 2)}</textarea>`
      }
      <button>Send ${verb}</button><output></output>
    </form>
  </details>`
}

const exampleOf = ({ responses }: Operation) =>
  responses.find(({ status }) => status.startsWith("2") && status !== "204")?.media?.example

/** A body with the members of its JSON, or what it is a list of, and the other formats that it can have. */
const bodyOf = ({ body, otherBodies }: Operation, fields: Fields.Fields) => {
  if (body === undefined) return undefined
  const members = fields.ofBody(body.schema)
  const text = textOf(objectOf(body.schema["items"])["description"])
  if (members === undefined && text === undefined) return undefined
  return html`<h3>Body</h3>
    ${members ?? html`<div class="prose">${render(`\`${body.type}\`: a list. Each item: ${text}`)}</div>`}
    ${otherBodies.map(
      ({ example, schema, type }) =>
        html`<div class="prose">${render(`\`${type}\`: ${textOf(schema["description"]) ?? ""}`)}</div>
          ${code(typeof example === "string" ? example.trimEnd() : JSON.stringify(example, undefined, 2))}`
    )}`
}

const section = (operation: Operation, fields: Fields.Fields, resolve: Resolve): Markup => {
  const { anchor, description, isDeprecated, parameters, path, permissions, title } = operation
  const example = exampleOf(operation)
  const places = ["path", "query", "header"].map((place) => ({
    name: placeNames[place] ?? place,
    own: parameters.filter((parameter) => parameter.place === place)
  }))
  return html`<section class="operation" id="${anchor}">
    <div class="about">
      <h2><a href="#${anchor}">${title}</a>${isDeprecated ? html` <small>deprecated</small>` : undefined}</h2>
      <p class="route">${method(operation.method)} <code>${path}</code></p>
      <div class="prose">${render(description)}</div>
      ${
        permissions.length === 0
          ? undefined
          : html`<p class="needs">Permission ${permissions.map((name) => html`<code>${name}</code> `)}</p>`
      }
      ${places.map(({ name, own }) =>
        own.length === 0
          ? undefined
          : html`<h3>${name}</h3>
              ${fields.ofParameters(own)}`
      )}
      ${bodyOf(operation, fields)}
      <h3>Answers</h3>
      ${answers(operation, fields, resolve)}
    </div>
    <div class="samples">
      <div class="sample">
        <div class="tabs">
          <button type="button" data-choose="curl">curl</button
          ><button type="button" data-choose="ts">TypeScript</button>
        </div>
        <div data-sample="curl">${code(curlOf(operation), "sh")}</div>
        <div data-sample="ts">${code(clientOf(operation), "ts")}</div>
      </div>
      ${
        example === undefined
          ? undefined
          : html`<details class="sample">
              <summary>Answer</summary>
              ${code(JSON.stringify(example, undefined, 2), "json")}
            </details>`
      }
      ${tryOut(operation)}
    </div>
  </section>`
}

/** The page of a resource. */
export const resourcePage = ({ description, operations, title }: Resource, resolve: Resolve): Markup => {
  const fields = Fields.make(resolve, render)
  return html`<div class="intro">
      <h1>${title}</h1>
      <p class="lead">${description}</p>
      <ul class="index">
        ${operations.map(
          (operation) =>
            html`<li><a href="#${operation.anchor}">${method(operation.method)} ${operation.title}</a></li>`
        )}
      </ul>
    </div>
    ${operations.map((operation) => section(operation, fields, resolve))}`
}
