import { Predicate, SchemaAST, type Schema } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import { withoutNull } from "../../domain/query/FilterFields.ts"

/** A record with another value at a path; members that are no records stay, for the schema to reject. */
export const withValue = (record: Json, segments: ReadonlyArray<string>, value: unknown): Json => {
  const [name, ...rest] = segments
  if (name === undefined) return record
  if (rest.length === 0) return { ...record, [name]: value }
  const inner = record[name] ?? {}
  if (record[name] === null || !Predicate.isObject(inner)) return record
  return { ...record, [name]: withValue(inner, rest, value) }
}

const known = (source: SchemaAST.AST, value: unknown): unknown => {
  const ast = withoutNull(source)
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    const element = ast.rest[0]
    return element === undefined ? value : value.map((one) => known(element, one))
  }
  if (!SchemaAST.isObjects(ast) || ast.indexSignatures.length > 0 || !Predicate.isObject(value)) return value
  return Object.fromEntries(
    ast.propertySignatures.flatMap(({ name, type }) =>
      Object.hasOwn(value, name) ? [[String(name), known(type, value[String(name)])] as const] : []
    )
  )
}

/** A value without the members that the schema does not have. */
export const knownMembers = (schema: Schema.Top, value: unknown): unknown =>
  known(SchemaAST.toEncoded(schema.ast), value)
