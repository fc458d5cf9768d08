import { Function, Schema, SchemaAST } from "effect"

/** How a field is compared, and with it which operators it takes. */
export type FieldKind = "string" | "uuid" | "enum" | "number" | "date" | "day" | "boolean"

/** A field of a record as the API returns it, by its dotted path. */
export interface Field {
  /** The path as returned, for example `address.city`. */
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly kind: FieldKind
  /**
   * How many leading segments lead to each list on the path, the outermost first. With a list the condition means "any
   * element", in lists within lists "any element of any element".
   */
  readonly lists: ReadonlyArray<number>
  /** Whether a record may lack it. */
  readonly optional: boolean
  /** The values of an enum. */
  readonly values: ReadonlyArray<string>
  /** Whether every answer derives it anew; such a field is not filterable. */
  readonly signed: boolean
  /** What its text is. */
  readonly meaning?: Meaning
}

/** Texts that a file may write in another form than the API. */
export type Meaning = "country" | "phone"

/** Annotates text that every answer signs anew. */
export const signed = "waypost/signed"

/** Annotates text with its `Meaning`. */
export const meaning = "waypost/meaning"

/** Annotates a filter with the paths of the fields that it can name. */
export const filterable = "waypost/filterable"

/** Annotates a list whose elements a filter names by their key, with what the key is: `metaTags.<key>`. */
export const keyed = "waypost/keyed"

/** A schema without `null`, if one other is left. */
export const withoutNull = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (!SchemaAST.isUnion(ast)) return ast
  const types = ast.types.filter((type) => !SchemaAST.isNull(type))
  return types.length === 1 ? types[0]! : ast
}

/** The words of an enumeration, which may be open: then it allows any other text. */
const literals = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const members = SchemaAST.isUnion(ast) ? ast.types.filter((type) => !SchemaAST.isString(type)) : [ast]
  const types = members.flatMap((type) => (SchemaAST.isUnion(type) ? type.types : [type]))
  const values = types.map((type) => (SchemaAST.isLiteral(type) ? type.literal : undefined))
  return values.length > 0 && values.every((value): value is string => typeof value === "string") ? values : undefined
}

const annotationsOf = (ast: SchemaAST.AST) => Schema.resolveAnnotations(Schema.make(ast))

const kindOf = (ast: SchemaAST.AST): FieldKind | undefined => {
  if (SchemaAST.isNumber(ast)) return "number"
  if (SchemaAST.isBoolean(ast)) return "boolean"
  if (!SchemaAST.isString(ast)) return literals(ast) === undefined ? undefined : "enum"
  const format = annotationsOf(ast)?.format
  if (format === "date") return "day"
  return format === "uuid" ? "uuid" : format === "date-time" ? "date" : "string"
}

const walk = (
  source: SchemaAST.AST,
  segments: ReadonlyArray<string>,
  lists: ReadonlyArray<number>,
  optional: boolean
): ReadonlyArray<Field> => {
  const ast = withoutNull(source)
  if (SchemaAST.isObjects(ast)) {
    return ast.propertySignatures.flatMap(({ name, type }) =>
      walk(type, [...segments, String(name)], lists, optional || SchemaAST.isOptional(type))
    )
  }
  if (SchemaAST.isArrays(ast)) {
    const element = ast.rest[0]
    return element === undefined ? [] : walk(element, segments, [...lists, segments.length], true)
  }
  const kind = kindOf(ast)
  if (kind === undefined) return []
  const values = literals(ast) ?? []
  const annotations = annotationsOf(ast)
  const isSigned = annotations?.[signed] === true
  const field = { path: segments.join("."), segments, kind, lists, optional, values, signed: isSigned }
  const means = annotations?.[meaning]
  return [means === "country" || means === "phone" ? { ...field, meaning: means } : field]
}

/** The fields of a record, read off the encoded side of its response schema. */
export const fieldsOf = Function.memoize((record: Schema.Top): ReadonlyArray<Field> =>
  walk(SchemaAST.toEncoded(record.ast), [], [], false)
)

/** The lists of a record whose elements a filter names by their key, and what the keys are. */
export const keyedOf = ({ ast }: Schema.Top): ReadonlyMap<string, string> =>
  new Map(
    (SchemaAST.isObjects(ast) ? ast.propertySignatures : []).flatMap(({ name, type }) => {
      const keys = annotationsOf(type)?.[keyed]
      return typeof keys === "string" ? [[String(name), keys]] : []
    })
  )

/** The fields a filter can name: those that the API returns, except the signed ones. */
export const filterableOf = (record: Schema.Top): ReadonlyArray<Field> =>
  fieldsOf(record).filter((field) => !field.signed)

/** The objects and the lists of objects that fields are in, which have no value to compare. */
export const objectsOf = (fields: ReadonlyArray<Field>): ReadonlyArray<Pick<Field, "path">> => {
  const paths = fields.flatMap(({ segments }) =>
    segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("."))
  )
  return [...new Set(paths)].map((path) => ({ path }))
}
