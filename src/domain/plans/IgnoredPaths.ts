import { Predicate, Result, type Schema, SchemaAST } from "effect"
import { withoutNull } from "../query/FilterFields.ts"
import { membersOf } from "../query/Selection.ts"
import type { Json } from "../schema/Json.ts"
import { InvalidRequestError } from "../write/RequestErrors.ts"
import { didYouMean, nearest } from "../write/Suggestions.ts"

const invalid = (code: string, message: string, suggestions: ReadonlyArray<string> = []) =>
  Result.fail(
    InvalidRequestError.of([
      { in: "query", path: "ignore", code, message, ...(suggestions.length > 0 ? { suggestions } : {}) }
    ])
  )

/** A row of a file without the members that stay as they are. */
export type Ignore = (row: Json) => Json

const propertiesOf = (source: SchemaAST.AST) => {
  const ast = withoutNull(source)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures : []
}

const mayBeNull = (ast: SchemaAST.AST) => SchemaAST.isUnion(ast) && ast.types.some(SchemaAST.isNull)

/** The row without a member. Null for an object that has the member clears the other members of the object. */
const without = (row: Json, ast: SchemaAST.AST, [name, ...below]: ReadonlyArray<string>): Json => {
  const { [name!]: value, ...others } = row
  if (value === undefined) return row
  if (below.length === 0) return others
  const type = propertiesOf(ast).find((property) => property.name === name)!.type
  if (Predicate.isObject(value)) return { ...row, [name!]: without(value, type, below) }
  if (value !== null || !mayBeNull(type)) return row
  const cleared = Object.fromEntries(
    propertiesOf(type).flatMap((property) => (mayBeNull(property.type) ? [[property.name, null]] : []))
  )
  const rest = without(cleared, type, below)
  return Object.keys(rest).length === 0 ? others : { ...row, [name!]: rest }
}

/** The paths of members that a plan leaves as they are, separated by commas. */
export const parse = (create: Schema.Top, text: string): Result.Result<Ignore, InvalidRequestError> => {
  const ast = SchemaAST.toEncoded(create.ast)
  const members = membersOf(ast)
  const paths = text
    .split(",")
    .map((path) => path.trim())
    .filter((path) => path !== "")
  const known = members.map(({ path }) => path)
  for (const path of paths) {
    const list = members.find((member) => member.isList && path.startsWith(`${member.path}.`))
    if (list !== undefined) {
      return invalid("notAllowed", `"${path}" is in a list, which is compared as a whole; ignore "${list.path}"`, [
        list.path
      ])
    }
    if (known.includes(path)) continue
    const suggestions = nearest(path, known)
    return invalid("unknownMember", `Unknown member "${path}"${didYouMean(suggestions)}`, suggestions)
  }
  return Result.succeed((row) => paths.reduce((rest, path) => without(rest, ast, path.split(".")), row))
}
