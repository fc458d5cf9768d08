import { Predicate, Result, type Schema, SchemaAST } from "effect"
import { membersOf } from "../query/Selection.ts"
import type { Json } from "../schema/Json.ts"
import { opened } from "../write/NullObjects.ts"
import { InvalidRequestError } from "../write/RequestErrors.ts"
import { didYouMean, nearest } from "../write/Suggestions.ts"

const invalid = (code: string, message: string, suggestions: ReadonlyArray<string> = []) =>
  Result.fail(
    InvalidRequestError.of([
      { in: "query", path: "ignore", code, message, ...(suggestions.length > 0 ? { suggestions } : {}) }
    ])
  )

/** A row of a file without the members that stay unchanged. */
export type Ignore = (row: Json) => Json

const without = (row: Json, [name, ...below]: ReadonlyArray<string>): Json => {
  const { [name!]: value, ...others } = row
  if (below.length === 0) return others
  if (!Predicate.isObject(value)) return row
  const rest = without(value, below)
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
  const ignored = paths.map((path) => path.split("."))
  return Result.succeed((row) => ignored.reduce((rest, path) => without(opened(rest, ast, path), path), row))
}
