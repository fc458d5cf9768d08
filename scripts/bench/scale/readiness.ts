import assert from "node:assert/strict"
import { answerOf, type Case, type Side } from "./cases.ts"

/** The branches that may use the product, or all of a small table. */
const branches = 5000

const variable = (key: string, type: string, source: string, more: object) => ({
  key,
  type,
  source,
  required: true,
  editable: false,
  ...more
})

/** Twenty variables that read every kind of value. Most branches are ready, so that all of their values are looked at. */
const variables = [
  variable("name", "text", "location", { sourcePath: "name", maxLength: 30 }),
  ...[
    ["code", "identifier"],
    ["city", "address.city"],
    ["street", "address.addressLine1"],
    ["zipcode", "address.zipcode"],
    ["country", "address.countryCode"],
    ["email", "contact.email"],
    ["website", "contact.website"],
    ["phone", "contact.phone"],
    ["contact", "contact.firstName"],
    ["hours", "other.extraDna1"],
    ["region", "other.extraDna2"]
  ].map(([key, sourcePath]) => variable(key!, "text", "location", { sourcePath, maxLength: 60 })),
  variable("latitude", "number", "location", { sourcePath: "coordinates.latitude" }),
  variable("longitude", "number", "location", { sourcePath: "coordinates.longitude" }),
  variable("invoice", "text", "location", { sourcePath: "invoice.name", required: false }),
  variable("logo", "image", "location", { sourcePath: "media.logo", required: false }),
  variable("locale", "choice", "location", { sourcePath: "locale", choices: ["nl-NL", "nl-BE", "en-GB"] }),
  variable("title", "text", "product", { sourcePath: "name" }),
  variable("brand", "text", "fixed", { fixedValue: "Bakkerij" }),
  variable("colour", "color", "fixed", { fixedValue: "#12489c" })
]

const identifier = "READINESS"

const write = async ({ key, service }: Side, method: string, path: string, body: object) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: key, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const answer = (await response.json()) as { readonly data: { readonly uuid: string } }
  assert.ok(response.ok, `${response.status} ${path}: ${JSON.stringify(answer)}`)
  return answer.data
}

/** The uuid of the product with the template, which everybody at its branches can see; the first call creates it. */
export const templated = async (side: Side): Promise<string> => {
  const { data } = await answerOf(side, `/v1/products?filter=identifier:equals:${identifier}`)
  const [known] = data as ReadonlyArray<{ readonly uuid: string }>
  if (known !== undefined) return known.uuid
  const locations = await side.sql<Array<{ readonly uuid: string }>>`
    select uuid from locations order by uuid limit ${branches}`
  const product = { type: "default", name: "Window poster", identifier, status: "published" }
  const { uuid } = await write(side, "POST", "/v1/products", product)
  const modules = `/v1/products/${uuid}/modules`
  await write(side, "PUT", `${modules}/locations`, { mode: "include", locations: [...locations] })
  await write(side, "PUT", `${modules}/permissions`, { authorizationType: "everyone" })
  await write(side, "PUT", `${modules}/template`, {
    outputs: [{ key: "print", format: "pdf", widthMm: 210, heightMm: 297 }],
    locales: ["nl-NL", "nl-BE", "en-GB"],
    variables
  })
  return uuid
}

/** Whether branches have what the twenty variables of a template need. */
export const readinessCases = async (side: Side): Promise<ReadonlyArray<Case>> => {
  assert.equal(variables.length, 20)
  const path = `/v1/products/${await templated(side)}/readiness`
  const { pagination } = await answerOf(side, path)
  assert.equal(pagination.total, Math.min(branches, side.size))
  return [
    { kind: "readiness", name: "5,000 branches and 20 variables", paths: [path], atMost: 300 },
    {
      kind: "readiness",
      name: "those of them that are not ready",
      paths: [`${path}?filter=ready:equals:false`],
      atMost: 300
    }
  ]
}
