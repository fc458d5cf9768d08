import { Effect, Predicate, Schema, SchemaAST, SchemaIssue, SchemaTransformation } from "effect"
import type { Json } from "../schema/Json.ts"
import { didYouMean, nearest } from "../write/Suggestions.ts"
import { withoutNull } from "./FilterFields.ts"

/** Which part of a record a request asks for; all of it, without extras, unless given. */
export interface Selection {
  /** The dotted paths of the members of the answer, besides `uuid`. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** Members that are only answered when they are asked for. */
  readonly include?: ReadonlyArray<string> | undefined
}

/** Whether a request asks for the record as it is answered by default, whose entity tag is a precondition of writes. */
export const isDefault = ({ fields, include }: Selection = {}): boolean => fields === undefined && include === undefined

/** A member of a record, by its dotted path: `address.city`. */
interface Member {
  readonly path: string
  /** Whether it is a list of objects. */
  readonly isList: boolean
}

/** The members below a path; those of objects in lists among them. */
export const membersOf = (source: SchemaAST.AST, above: ReadonlyArray<string> = []): ReadonlyArray<Member> => {
  const ast = withoutNull(source)
  const element = SchemaAST.isArrays(ast) ? ast.rest[0] : undefined
  const inner = element === undefined ? ast : withoutNull(element)
  const own = above.length === 0 ? [] : [{ path: above.join("."), isList: inner !== ast && SchemaAST.isObjects(inner) }]
  return SchemaAST.isObjects(inner)
    ? [...own, ...inner.propertySignatures.flatMap(({ name, type }) => membersOf(type, [...above, String(name)]))]
    : own
}

/** The members of an object at paths; all of them where a path ends. */
export const pick = (value: Json, paths: ReadonlyArray<ReadonlyArray<string>>): Json => {
  if (paths.some((path) => path.length === 0)) return value
  const names = new Set(paths.map(([name]) => name!))
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const below = paths.filter(([first]) => first === name).map((path) => path.slice(1))
      if (!names.has(name)) return []
      const part = pickIn(inner, below)
      return part === undefined ? [] : [[name, part] as const]
    })
  )
}

const pickIn = (value: unknown, paths: ReadonlyArray<ReadonlyArray<string>>): unknown => {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) return value.map((element: Json) => pick(element, paths))
  if (!Predicate.isObject(value)) return value
  const part = pick(value, paths)
  return Object.keys(part).length === 0 ? undefined : part
}

/** How many paths a request names. */
const maxPaths = 100

const invalid = (sent: string, code: string, message: string, suggestions: ReadonlyArray<string> = []) =>
  Effect.fail(new SchemaIssue.InvalidValue({ message, code, suggestions }, sent))

/** The `fields` of a read, of a record that can have the members of all of `schemas`. */
export const Fields = (...schemas: ReadonlyArray<Schema.Top>) => {
  const known = new Set(schemas.flatMap(({ ast }) => membersOf(SchemaAST.toEncoded(ast)).map(({ path }) => path)))
  const [first = "uuid", second = first] = [...known].filter((path) => path !== "uuid")
  const decode = (sent: string) => {
    const paths = [...new Set(sent.split(",").map((path) => path.trim()))]
    const unknown = paths.find((path) => !known.has(path))
    if (unknown === "") return invalid(sent, "invalidFormat", `Expected paths separated by commas, such as "${first}"`)
    if (paths.length > maxPaths) return invalid(sent, "tooMany", `Expected at most ${maxPaths} paths`)
    if (unknown === undefined) return Effect.succeed(paths)
    const suggestions = nearest(unknown, [...known])
    return invalid(sent, "unknownMember", `Unknown field "${unknown}"${didYouMean(suggestions)}`, suggestions)
  }
  return Schema.String.annotate({
    description:
      "Dotted paths separated by commas: the answer has only these members and `uuid`, others that the schema requires are absent.",
    examples: [`${first},${second}`]
  }).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String),
      SchemaTransformation.transformEffect<ReadonlyArray<string>, string>({
        decode,
        encode: (paths) => Effect.succeed(paths.join(","))
      })
    )
  )
}
