import { Predicate, SchemaAST } from "effect"
import { withoutNull } from "../query/FilterFields.ts"
import type { Json } from "../schema/Json.ts"

const propertiesOf = (source: SchemaAST.AST) => {
  const ast = withoutNull(source)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures : []
}

const mayBeNull = (ast: SchemaAST.AST) => SchemaAST.isUnion(ast) && ast.types.some(SchemaAST.isNull)

/** What null for an object means: null for each of its members that may be null. */
const cleared = (ast: SchemaAST.AST): Json =>
  Object.fromEntries(propertiesOf(ast).flatMap(({ name, type }) => (mayBeNull(type) ? [[name, null]] : [])))

/** A record with objects instead of null above a member; `ast` is the encoded side of its schema. */
export const opened = (record: Json, ast: SchemaAST.AST, [name, ...below]: ReadonlyArray<string>): Json => {
  const type = propertiesOf(ast).find((property) => property.name === name)?.type
  if (name === undefined || type === undefined || below.length === 0) return record
  const inner = record[name] === null && mayBeNull(type) ? cleared(type) : record[name]
  return Predicate.isObject(inner) ? { ...record, [name]: opened(inner, type, below) } : record
}
