import { Schema, SchemaAST } from "effect"

/** How a field is compared, and with it which operators it takes. */
export type Kind = "string" | "uuid" | "enum" | "number" | "date" | "boolean"

/** A field of a record as the API returns it, by its dotted path. */
export interface Field {
  /** The path as returned, for example `address.city`. */
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly kind: Kind
  /** How many leading segments lead to a list; the condition then means "any element". `undefined`: no list. */
  readonly listAt: number | undefined
  /** Whether a record may lack it. */
  readonly optional: boolean
  /** The values of an enum. */
  readonly values: ReadonlyArray<string>
}

const withoutNull = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (!SchemaAST.isUnion(ast)) return ast
  const types = ast.types.filter((type) => !SchemaAST.isNull(type))
  return types.length === 1 ? types[0]! : ast
}

const literals = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const types = SchemaAST.isUnion(ast) ? ast.types : [ast]
  const values = types.map((type) => (SchemaAST.isLiteral(type) ? type.literal : undefined))
  return values.every((value): value is string => typeof value === "string") ? values : undefined
}

const kindOf = (ast: SchemaAST.AST): Kind | undefined => {
  if (SchemaAST.isNumber(ast)) return "number"
  if (SchemaAST.isBoolean(ast)) return "boolean"
  if (!SchemaAST.isString(ast)) return literals(ast) === undefined ? undefined : "enum"
  const format = Schema.resolveAnnotations(Schema.make(ast))?.format
  return format === "uuid" ? "uuid" : format === "date-time" ? "date" : "string"
}

const walk = (
  source: SchemaAST.AST,
  segments: ReadonlyArray<string>,
  listAt: number | undefined,
  optional: boolean
): ReadonlyArray<Field> => {
  const ast = withoutNull(source)
  if (SchemaAST.isObjects(ast)) {
    return ast.propertySignatures.flatMap(({ name, type }) =>
      walk(type, [...segments, String(name)], listAt, optional || SchemaAST.isOptional(type))
    )
  }
  if (SchemaAST.isArrays(ast)) {
    const element = ast.rest[0]
    return element === undefined || listAt !== undefined ? [] : walk(element, segments, segments.length, true)
  }
  const kind = kindOf(ast)
  return kind === undefined
    ? []
    : [{ path: segments.join("."), segments, kind, listAt, optional, values: literals(ast) ?? [] }]
}

/** The fields of a record, read off the encoded side of its response schema: what is not answered cannot be asked for. */
export const fieldsOf = (record: Schema.Top): ReadonlyArray<Field> =>
  walk(SchemaAST.toEncoded(record.ast), [], undefined, false)
