import type { Operation, Parameter } from "./Reference.ts"
import { listOf } from "./Json.ts"

/** A uuid for samples. */
const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

const exampleOf = ({ name, schema }: Parameter): string | number => {
  const [example = schema["example"] ?? schema["default"] ?? listOf(schema["enum"])[0]] = listOf(schema["examples"])
  if (typeof example === "string" || typeof example === "number") return example
  return schema["format"] === "uuid" ? uuid : name
}

/** Parameters of operations that take one of several, and reject a request without any. */
const chosen: Readonly<Record<string, ReadonlyArray<string>>> = { "access.explain": ["user", "product"] }

/** What a sample sends: the required parameters, and a page size for lists. */
const valuesOf = ({ id, parameters }: Operation, place: string): ReadonlyArray<readonly [string, string | number]> =>
  parameters
    .filter(
      ({ isRequired, name, place: own }) =>
        own === place && (isRequired || name === "limit" || chosen[id]?.includes(name))
    )
    .map((parameter) => [parameter.name, parameter.name === "limit" ? 10 : exampleOf(parameter)] as const)

/** The request with curl, as the guides write it. */
export const curlOf = (operation: Operation): string => {
  const { body, method, path } = operation
  const filled = valuesOf(operation, "path").reduce(
    (rest, [name, value]) => rest.replace(`{${name}}`, encodeURIComponent(value)),
    path
  )
  const query = valuesOf(operation, "query").map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const url = `"$URL${filled}${query.length === 0 ? "" : `?${query.join("&")}`}"`
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`
  const json =
    body?.example === undefined
      ? ""
      : ` \\\n  --json '${JSON.stringify(body.example, undefined, 2).replaceAll("'", String.raw`'\''`)}'`
  return `curl${verb} ${url} \\\n  -H "Authorization: $KEY"${json}`
}

/** JSON as TypeScript writes it. */
const literal = (value: unknown) =>
  JSON.stringify(value, undefined, 2).replaceAll(/^( *)"([A-Za-z_$][\w$]*)":/gm, "$1$2:")

const compact = (entries: ReadonlyArray<readonly [string, string | number]>) =>
  `{ ${entries.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ")} }`

/** The variable for the result of an operation. */
const resultOf = ({ method, parameters }: Operation, group: string, name: string) => {
  if (parameters.some((parameter) => parameter.name === "page")) return "const { data, pagination } = "
  if (method === "DELETE") return ""
  const isRecord = name === "get" || name === "create" || name === "update"
  return `const ${isRecord ? group.replace(/ies$/, "y").replace(/s$/, "") : "answer"} = `
}

const maxLine = 58

const assigned = (target: string, call: string) => {
  const [line = ""] = call.split("\n")
  return target !== "" && target.length + line.length > maxLine
    ? `${target.trimEnd()}\n  ${indented(call)}`
    : target + call
}

const indented = (text: string) => text.replaceAll("\n", "\n  ")

/** The client follows the log with long polls, which go on after a lost connection. */
const followed = `import { createClient } from "@waypost/client"

const client = createClient({ url, key })
for await (const event of client.events.follow()) console.log(event)`

/** The request of an operation with the typed client: uuids of the path, body and query are arguments in this order. */
export const clientOf = (operation: Operation): string => {
  if (operation.id === "events.stream") return followed
  const [group = "", name = ""] = operation.id.split(".")
  const query = valuesOf(operation, "query")
  const sent = [
    ...valuesOf(operation, "path").map(([, value]) => JSON.stringify(value)),
    ...(operation.body === undefined ? [] : [literal(operation.body.example ?? {})]),
    ...(query.length === 0 ? [] : [compact(query)])
  ]
  return `import { createClient } from "@waypost/client"

const client = createClient({ url, key })
${assigned(resultOf(operation, group, name), `await client.${group}.${name}(${sent.join(", ")})`)}`
}
