/**
 * The changes of an OpenAPI document that break a client of its previous release.
 *
 * What a client sends must still be accepted, and what it receives must still be what it was promised: the schema of a
 * request may only widen, that of a response only narrow. Responses may gain members, and operations may gain errors. What a
 * document references is compared, so an inline schema can become a component. Read-only members of a request are ignored
 * by the service, so their schema says only what a response contains. A member may be absent if only requests with a new
 * parameter leave it out, as its `x-absent-with` says.
 */
type Schema = Readonly<Record<string, unknown>>
type Direction = "request" | "response"

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Reference {
  readonly $ref: string
}

interface Parameter {
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: ReadonlyArray<Parameter | Reference>
  readonly requestBody?: Media & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Media | Reference>>
  readonly "x-required-permissions"?: ReadonlyArray<string>
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters?: Readonly<Record<string, Parameter>>
    readonly responses?: Readonly<Record<string, Media>>
  }
}

const named = ({ $ref }: Reference) => $ref.slice($ref.lastIndexOf("/") + 1)

/** The parameters of an operation, with those that it references. */
const parametersOf = ({ parameters = [] }: Operation, { components }: Document): ReadonlyArray<Parameter> =>
  parameters.map((parameter) => ("$ref" in parameter ? components.parameters![named(parameter)]! : parameter))

/** A response of an operation, or the one that it references. */
const responseOf = ({ responses }: Operation, status: string, { components }: Document): Media | undefined => {
  const response = responses[status]
  return response !== undefined && "$ref" in response ? components.responses![named(response)] : response
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null
const membersOf = (schema: Schema) => (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>
const schemaOf = (media: Media | undefined) => media?.content?.["application/json"]?.schema

/** Keywords of a request that may only fall or rise; a change of the others is always a narrower type. */
const lower = ["minimum", "minLength", "minItems"]
const upper = ["maximum", "maxLength", "maxItems"]
/** The format `int64` allows every integer. */
const exact = ["pattern", "format", "multipleOf", "uniqueItems"]

const narrowed = (wide: Schema, narrow: Schema, at: string): ReadonlyArray<string> =>
  [
    ...lower.filter((name) => Number(wide[name] ?? -Infinity) > Number(narrow[name] ?? -Infinity)),
    ...upper.filter((name) => Number(wide[name] ?? Infinity) < Number(narrow[name] ?? Infinity)),
    ...exact.filter((name) => wide[name] !== undefined && wide[name] !== narrow[name] && wide[name] !== "int64")
  ].map(
    (name) => `${at}: ${name} is ${JSON.stringify(wide[name])} instead of ${JSON.stringify(narrow[name] ?? "unset")}`
  )

/** All breaking changes from a released document to the current one, each with its place. */
export const breakingChanges = (released: Document, current: Document): ReadonlyArray<string> => {
  const compared = new Set<string>()
  /** The parameters of the operation that is compared, in its released form. */
  let known: ReadonlySet<string> = new Set()

  const resolve = (schema: Schema, document: Document): Schema => {
    const { $ref } = schema
    if (typeof $ref !== "string") return schema
    return resolve(document.components.schemas[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {}, document)
  }

  const isReadOnly = (schema: Schema, document: Document) =>
    schema["readOnly"] === true || resolve(schema, document)["readOnly"] === true

  /** The single types that a schema allows. */
  const alternativesOf = (schema: Schema, document: Document): ReadonlyArray<Schema> => {
    const { anyOf, oneOf, ...rest } = resolve(schema, document)
    const inner = listOf(anyOf ?? oneOf) as ReadonlyArray<Schema>
    if (inner.length > 0) return inner.flatMap((one) => alternativesOf(one, document))
    const types = listOf(rest["type"])
    return types.length > 0 ? types.map((type) => ({ ...rest, type })) : [rest]
  }

  /** Why `before` and `now` are not compatible, each schema of its own document. */
  const compare = (before: Schema, now: Schema, direction: Direction, at: string): ReadonlyArray<string> => {
    const pair = `${direction} ${String(before["$ref"])} ${String(now["$ref"])}`
    if (before["$ref"] !== undefined && now["$ref"] !== undefined) {
      // Reported once, and recursive schemas end.
      if (compared.has(pair)) return []
      compared.add(pair)
    }
    const [old, new_] = [alternativesOf(before, released), alternativesOf(now, current)]
    const [wide, narrow] = direction === "request" ? [new_, old] : [old, new_]
    return narrow.flatMap((value) => {
      const same = wide.filter(
        ({ type }) => type === value["type"] || type === undefined || includes(type, value["type"])
      )
      if (same.length === 0) return [`${at}: ${direction} type ${String(value["type"])} ${reason(direction)}`]
      const problems = same.map((one) => problemsOf(one, value, direction, at))
      return problems.find((found) => found.length === 0) ?? problems[0]!
    })
  }

  /** Why `wide` does not cover `narrow`, both of one type. */
  const problemsOf = (wide: Schema, narrow: Schema, direction: Direction, at: string): ReadonlyArray<string> => {
    const problems: Array<string> = direction === "request" ? [...narrowed(wide, narrow, at)] : []
    if (wide["enum"] !== undefined) {
      const extra = listOf(narrow["enum"]).filter((value) => !listOf(wide["enum"]).includes(value))
      if (narrow["enum"] === undefined) problems.push(`${at}: ${direction} has other values than its enumeration`)
      if (extra.length > 0) problems.push(`${at}: ${direction} value ${extra.join(", ")} ${reason(direction)}`)
    }
    const [before, now] = direction === "request" ? [narrow, wide] : [wide, narrow]
    const remaining = membersOf(now)
    for (const [name, member] of Object.entries(membersOf(before))) {
      const kept = remaining[name]
      if (kept === undefined) problems.push(`${at}.${name}: the ${direction} member was removed`)
      else if (direction === "response" || !isReadOnly(member, released) || !isReadOnly(kept, current))
        problems.push(...compare(member, kept, direction, `${at}.${name}`))
    }
    const optional = listOf(wide["required"]).filter((name) => !listOf(narrow["required"]).includes(name))
    const changed = optional.filter((name) => {
      if (direction === "request") return true
      const absentWith = listOf(remaining[String(name)]?.["x-absent-with"])
      return (
        remaining[String(name)] !== undefined &&
        (absentWith.length === 0 || absentWith.some((one) => known.has(String(one))))
      )
    })
    const change = direction === "request" ? "is required now" : "can be absent now"
    problems.push(...changed.map((name) => `${at}.${String(name)}: the ${direction} member ${change}`))
    const [item, itemNow] = [before["items"], now["items"]]
    if (isSchema(item) && isSchema(itemNow)) problems.push(...compare(item, itemNow, direction, `${at}[]`))
    return problems
  }

  const operation = (name: string, before: Operation, now: Operation): ReadonlyArray<string> => {
    const problems: Array<string> = []
    const permissions = before["x-required-permissions"] ?? []
    const more = (now["x-required-permissions"] ?? []).filter((permission) => !permissions.includes(permission))
    if (more.length > 0) problems.push(`${name}: needs ${more.join(", ")} too`)
    const parameters = new Map(parametersOf(before, released).map((parameter) => [parameter.name, parameter]))
    known = new Set(parameters.keys())
    for (const parameter of parametersOf(now, current)) {
      const earlier = parameters.get(parameter.name)
      parameters.delete(parameter.name)
      if (parameter.required === true && earlier?.required !== true)
        problems.push(`${name}: the parameter ${parameter.name} is required now`)
      if (earlier !== undefined)
        problems.push(...compare(earlier.schema, parameter.schema, "request", `${name} ?${parameter.name}`))
    }
    problems.push(...parameters.keys().map((parameter) => `${name}: the parameter ${parameter} was removed`))
    const [sent, accepted] = [schemaOf(before.requestBody), schemaOf(now.requestBody)]
    if (sent !== undefined && accepted === undefined) problems.push(`${name}: takes no body any more`)
    if (now.requestBody?.required === true && before.requestBody?.required !== true)
      problems.push(`${name}: needs a body`)
    if (sent !== undefined && accepted !== undefined) problems.push(...compare(sent, accepted, "request", name))
    for (const status of Object.keys(before.responses)) {
      if (!status.startsWith("2")) continue
      const [promised, answered] = [
        schemaOf(responseOf(before, status, released)),
        schemaOf(responseOf(now, status, current))
      ]
      if (now.responses[status] === undefined) problems.push(`${name}: does not answer ${status} any more`)
      else if (promised !== undefined && answered !== undefined)
        problems.push(...compare(promised, answered, "response", `${name} ${status}`))
    }
    return problems
  }

  const ofOperations = Object.entries(released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const now = current.paths[path]?.[method]
      const name = `${method.toUpperCase()} ${path}`
      return now === undefined ? [`${name}: the operation was removed`] : operation(name, before, now)
    })
  )
  const ofErrors = Object.entries(released.components.schemas).flatMap(([name, before]) => {
    const now = current.components.schemas[name]
    return name.endsWith("ErrorEncoded") && now !== undefined ? compare(before, now, "response", name) : []
  })
  return [...ofOperations, ...ofErrors]
}

const includes = (wide: unknown, narrow: unknown) => wide === "number" && narrow === "integer"

const reason = (direction: Direction) => (direction === "request" ? "is not accepted any more" : "is new")
