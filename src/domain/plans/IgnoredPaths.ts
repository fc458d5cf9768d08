import { Result, type Schema, SchemaAST } from "effect"
import { membersOf } from "../query/Selection.ts"
import { InvalidRequestError } from "../write/RequestErrors.ts"
import { didYouMean, nearest } from "../write/Suggestions.ts"

const invalid = (code: string, message: string, suggestions: ReadonlyArray<string> = []) =>
  Result.fail(
    InvalidRequestError.of([
      { in: "query", path: "ignore", code, message, ...(suggestions.length > 0 ? { suggestions } : {}) }
    ])
  )

/** The paths of members that a plan leaves as they are, separated by commas. */
export const parse = (create: Schema.Top, text: string): Result.Result<ReadonlyArray<string>, InvalidRequestError> => {
  const members = membersOf(SchemaAST.toEncoded(create.ast))
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
  return Result.succeed(paths)
}
