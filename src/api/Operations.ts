import { Context, Schema, SchemaAST } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { type Field, fieldsOf, filterable } from "../domain/query/FilterFields.ts"
import { Api } from "./Api.ts"

/** What can be done with every kind of record in the same way. */
export const verbs = ["list", "get", "search", "create", "update", "delete", "history"] as const
export type Verb = (typeof verbs)[number]

/** A query parameter. */
export interface Parameter {
  readonly name: string
  readonly description: string | undefined
}

/** An operation on the records of a resource. */
export interface Operation {
  /** The name in the path, such as `asset-categories`. */
  readonly resource: string
  /** The group of the definition, under which a client has it: `assetCategories`. */
  readonly group: string
  readonly verb: Verb
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly query: ReadonlyArray<Parameter>
  /** What the parameter `include` can name. */
  readonly included: ReadonlyArray<string>
  /** The paths of the fields that the parameter `filter` can name. */
  readonly filterable: ReadonlyArray<string>
  /** The schema of the body. */
  readonly payload: Schema.Top | undefined
  /** The values of a record that the answer has. */
  readonly values: ReadonlyArray<Field>
  /**
   * The dotted paths of these values, without those in lists; of translations, a text of the
   * first one: `translations.0.name`.
   */
  readonly fields: ReadonlyArray<string>
  /** The members of a record that are lists. */
  readonly lists: ReadonlyArray<string>
}

const isVerb = (name: string): name is Verb => verbs.some((verb) => verb === name)

/** The query parameters by their names, each with its annotations. */
const parametersOf = (query: Schema.Top | undefined) => {
  const ast = query === undefined ? undefined : SchemaAST.toEncoded(query.ast)
  if (ast === undefined || !SchemaAST.isObjects(ast)) return []
  return ast.propertySignatures.map(
    ({ name, type }) => [String(name), Schema.resolveAnnotations(Schema.make(type))] as const
  )
}

const queryOf = (query: Schema.Top | undefined): ReadonlyArray<Parameter> =>
  parametersOf(query).map(([name, annotations]) => {
    const description = annotations?.description
    return { name, description: typeof description === "string" ? description : undefined }
  })

const filterableBy = (query: Schema.Top | undefined): ReadonlyArray<string> => {
  const paths = parametersOf(query).find(([name]) => name === "filter")?.[1]?.[filterable]
  return Array.isArray(paths) ? paths.map(String) : []
}

const includedBy = (query: Schema.Top | undefined): ReadonlyArray<string> => {
  const parameters = query === undefined ? [] : fieldsOf(Schema.toType(query))
  return parameters.find(({ path }) => path === "include")?.values ?? []
}

/** The values of the records in `data`: each of its elements in a page, itself in the answer of one record. */
const recordIn = (success: Schema.Top | undefined): Pick<Operation, "values" | "fields" | "lists"> => {
  const values = (success === undefined ? [] : fieldsOf(success))
    .filter(({ segments, signed }) => segments[0] === "data" && !signed)
    .map(({ lists, segments, ...field }) => {
      const inRecord = segments.slice(1)
      const nested = lists.filter((list) => list > 1).map((list) => list - 1)
      return { ...field, path: inRecord.join("."), segments: inRecord, lists: nested }
    })
  const inData = values.map(({ kind, lists, segments }) => ({ kind, path: segments, inList: lists.length > 0 }))
  const text = inData.find(
    ({ kind, path: [list, name] }) => kind === "string" && list === "translations" && name !== "locale"
  )
  return {
    values,
    fields: [
      ...(text === undefined ? [] : [`translations.0.${text.path.slice(1).join(".")}`]),
      ...inData.filter(({ inList }) => !inList).map(({ path }) => path.join("."))
    ],
    lists: [...new Set(inData.filter(({ inList }) => inList).map(({ path }) => path[0]!))]
  }
}

/** The operations of the contract that have one of the verbs, on whole records. */
export const operations = (): ReadonlyArray<Operation> => {
  const found: Array<Operation> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      const { identifier, path, query } = endpoint
      const resource = /^\/v1\/([a-z-]+)(?:\/:uuid|\/search|\/:uuid\/history)?\/?$/.exec(path)?.[1]
      const verb = identifier === "revoke" ? "delete" : identifier
      if (resource === undefined || !isVerb(verb)) return
      const payload = [...endpoint.payload.values()].flatMap((body) => ("schemas" in body ? body.schemas : []))[0]
      const [success] = endpoint.success
      found.push({
        resource,
        group: group.identifier,
        verb,
        path: path.replace(/\/$/, ""),
        summary: Context.getOrUndefined(mergedAnnotations, OpenApi.Summary) ?? "",
        description: Context.getOrUndefined(mergedAnnotations, OpenApi.Description) ?? "",
        query: queryOf(query),
        included: includedBy(query),
        filterable: filterableBy(query),
        payload,
        ...recordIn(success)
      })
    }
  })
  return found
}
