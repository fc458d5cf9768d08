import { type Json, objectOf } from "../../domain/schema/Json.ts"
import { String as Str } from "effect"
import { listOf, type Resolve, resolverOf, textOf } from "./Json.ts"

/** An operation, with every reference but those inside schemas resolved. */
export interface Operation {
  /** `locations.list` */
  readonly id: string
  readonly anchor: string
  readonly method: string
  readonly path: string
  readonly title: string
  readonly description: string
  readonly permissions: ReadonlyArray<string>
  readonly isDeprecated: boolean
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: Media | undefined
  /** The other media types that the body can have. */
  readonly otherBodies: ReadonlyArray<Media>
  readonly responses: ReadonlyArray<Response>
}

export interface Parameter {
  readonly name: string
  readonly place: string
  readonly isRequired: boolean
  readonly description: string
  readonly schema: Json
}

interface Media {
  readonly type: string
  readonly schema: Json
  readonly example: unknown
}

interface Response {
  readonly status: string
  readonly description: string
  readonly media: Media | undefined
}

/** The operations of one page. */
export interface Resource {
  readonly slug: string
  readonly title: string
  readonly description: string
  /** The page that lists it: `products` for the modules. */
  readonly parent: string | undefined
  readonly operations: ReadonlyArray<Operation>
}

export interface Reference {
  readonly resources: ReadonlyArray<Resource>
  readonly resolve: Resolve
}

const methods = new Set(["get", "post", "put", "patch", "delete"])

/** A module of products has a page of its own. */
const modulePath = /\/modules\/([a-z-]+)/

const slugOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")

const mediaOf = (resolve: Resolve, owner: Json): ReadonlyArray<Media> =>
  Object.entries(objectOf(owner["content"])).map(([type, value]) => {
    const media = objectOf(value)
    const [named] = Object.values(objectOf(media["examples"])).map((example) => resolve(example)["value"])
    return { type, schema: objectOf(media["schema"]), example: media["example"] ?? named }
  })

const parameterOf = (resolve: Resolve, value: unknown): Parameter => {
  const parameter = resolve(value)
  const schema = resolve(parameter["schema"])
  return {
    name: textOf(parameter["name"]) ?? "",
    place: textOf(parameter["in"]) ?? "query",
    isRequired: parameter["required"] === true,
    description: textOf(parameter["description"]) ?? textOf(schema["description"]) ?? "",
    schema
  }
}

const responseOf = (resolve: Resolve, status: string, value: unknown): Response => {
  const response = resolve(value)
  return { status, description: textOf(response["description"]) ?? "", media: mediaOf(resolve, response)[0] }
}

const operationOf = (resolve: Resolve, path: string, method: string, value: Json, shared: unknown): Operation => {
  const id = textOf(value["operationId"]) ?? `${method}-${path}`
  const [body, ...otherBodies] = mediaOf(resolve, resolve(value["requestBody"]))
  return {
    id,
    anchor: slugOf((id.split(".").at(-1) ?? id).replaceAll(/(?=[A-Z])/g, "-")),
    method: method.toUpperCase(),
    path,
    title: textOf(value["summary"]) ?? id,
    description: textOf(value["description"]) ?? "",
    permissions: listOf(value["x-required-permissions"]).flatMap((name) => textOf(name) ?? []),
    isDeprecated: value["deprecated"] === true,
    parameters: [...listOf(shared), ...listOf(value["parameters"])].map((each) => parameterOf(resolve, each)),
    body,
    otherBodies,
    responses: Object.entries(objectOf(value["responses"])).map(([status, each]) => responseOf(resolve, status, each))
  }
}

/** The resources of an OpenAPI document, in the order of its tags. */
export const referenceOf = (document: Json): Reference => {
  const resolve = resolverOf(document)
  const operations = Object.entries(objectOf(document["paths"])).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([method]) => methods.has(method))
      .map(([method, value]) => ({
        tag: textOf(listOf(objectOf(value)["tags"])[0]),
        module: modulePath.exec(path)?.[1],
        operation: operationOf(resolve, path, method, objectOf(value), objectOf(item)["parameters"])
      }))
  )
  const modulePage = (name: string, parent: string): Resource => ({
    slug: `${name}-module`,
    title: name === "api" ? "API module" : `${Str.capitalize(name.replaceAll("-", " "))} module`,
    description: `The ${name.replaceAll("-", " ")} module of a product.`,
    parent,
    operations: operations.filter(({ module }) => module === name).map(({ operation }) => operation)
  })
  const resources = listOf(document["tags"]).flatMap((value): ReadonlyArray<Resource> => {
    const tag = objectOf(value)
    const title = textOf(tag["name"]) ?? ""
    const own = operations.filter((each) => each.tag === title)
    const modules = new Set(own.flatMap(({ module }) => module ?? []))
    const page = {
      slug: slugOf(title),
      title,
      description: textOf(tag["description"]) ?? "",
      parent: undefined,
      operations: own.filter(({ module }) => module === undefined).map(({ operation }) => operation)
    }
    return [page, ...[...modules].map((name) => modulePage(name, page.slug))]
  })
  return { resources, resolve }
}
