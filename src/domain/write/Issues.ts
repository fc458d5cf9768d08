import { Predicate, Schema, SchemaAST, SchemaIssue } from "effect"
import type { Issue } from "./RequestErrors.ts"
import { didYouMean, nearest, sameMeaning } from "./Suggestions.ts"

/**
 * Schema issues as issues of a response: the member, a stable code, a message, and suggestions.
 *
 * Schema issues are trees; their leaves are the problems and the pointers above a leaf are its path.
 */
interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: SchemaIssue.Leaf | SchemaIssue.Filter
}

const leavesOf = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey> = []): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return leavesOf(issue.issue, path)
    case "Composite":
      return issue.issues.flatMap((inner) => leavesOf(inner, path))
    case "AnyOf":
      return alternativesOf(issue, path)
    case "Filter":
      // A filter that reports a pointer or an issue is described by it.
      return issue.issue._tag === "InvalidValue" && messageOf(issue.issue) === undefined
        ? [{ path, issue }]
        : leavesOf(issue.issue, path)
    default:
      return [{ path, issue }]
  }
}

/** The member whose word selects an alternative, and its words. */
const selectorOf = (ast: SchemaAST.AST) => {
  const [first, ...others] = typesOf(ast).map((type) =>
    SchemaAST.isObjects(type)
      ? type.propertySignatures.flatMap(({ name, type }) =>
          SchemaAST.isLiteral(type) ? [{ name, word: String(type.literal) }] : []
        )
      : []
  )
  const shared = first?.find(({ name }) => others.every((literals) => literals.some((other) => other.name === name)))
  return shared === undefined
    ? undefined
    : {
        name: shared.name,
        words: [first!, ...others].map((literals) => literals.find(({ name }) => name === shared.name)!)
      }
}

/** An object that none of the alternatives describes: the word that selects one is missing or unknown. */
const unselected = (issue: SchemaIssue.AnyOf, path: ReadonlyArray<PropertyKey>): Leaf | undefined => {
  const input = inputOf(issue)
  const selector = issue.issues.length === 0 && Predicate.isObject(input) ? selectorOf(issue.ast) : undefined
  if (selector === undefined || !Predicate.isObject(input)) return undefined
  const words = Schema.Literals(selector.words.map(({ word }) => word))
  const sent = input[selector.name]
  return {
    path: [...path, selector.name],
    issue:
      sent === undefined
        ? new SchemaIssue.MissingKey(undefined)
        : new SchemaIssue.InvalidType(words.ast, sent, { reportInput: true })
  }
}

/** Of the alternatives of a union, reports those that fit the type of the value. */
const alternativesOf = (issue: SchemaIssue.AnyOf, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Leaf> => {
  const deeper = issue.issues
    .flatMap((inner) => leavesOf(inner, path))
    .filter((leaf) => leaf.issue._tag !== "InvalidType" || leaf.path.length > path.length)
  const selection = unselected(issue, path)
  if (selection !== undefined) return [selection]
  return deeper.length > 0
    ? deeper
    : [{ path, issue: new SchemaIssue.InvalidType(issue.ast, inputOf(issue), { reportInput: true }) }]
}

const messageOf = (issue: SchemaIssue.Issue): string | undefined => {
  const message = "annotations" in issue ? issue.annotations?.["message"] : undefined
  return typeof message === "string" ? message : undefined
}

/** The types of a union, however deep. */
const typesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(typesOf) : [ast]

/** The literals among the types of a schema. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  typesOf(ast).flatMap((type) => (SchemaAST.isLiteral(type) ? [String(type.literal)] : []))

const typeNames: Partial<Record<SchemaAST.AST["_tag"], string>> = {
  String: "a string",
  Number: "a number",
  Boolean: "true or false",
  Objects: "an object",
  Arrays: "a list",
  Null: "null"
}

const expectedType = (ast: SchemaAST.AST): string => {
  const names = typesOf(ast).map((type) => typeNames[SchemaAST.toEncoded(type)._tag])
  return [...new Set(names.filter((name) => name !== undefined))].join(" or ") || "another value"
}

const inputOf = (issue: object): unknown => ("input" in issue ? issue.input : undefined)

type Problem = Pick<Issue, "code" | "message" | "suggestions">

const wrongType = (issue: SchemaIssue.InvalidType, sent: unknown, part: Issue["in"]): Problem => {
  const literals = literalsOf(issue.ast)
  const isList = Array.isArray(sent) && !SchemaAST.isArrays(issue.ast)
  // A parameter that is given twice arrives as a list.
  if (isList && part === "query") return { code: "givenTwice", message: `Expected a single value, got ${sent.length}` }
  if (literals.length === 0 || isList) {
    const expected = literals.length === 0 ? expectedType(issue.ast) : `one of ${literals.join(", ")}`
    return { code: "wrongType", message: `Expected ${expected}${isList ? ", got a list" : ""}` }
  }
  const suggestions = typeof sent === "string" ? nearest(sent, literals) : []
  return { code: "notAllowed", message: `Expected one of ${literals.join(", ")}`, suggestions }
}

/** What a schema says itself about a value. */
const preparedProblem = (issue: SchemaIssue.Issue): Partial<Problem> => {
  const { code, suggestions } = "annotations" in issue ? (issue.annotations ?? {}) : {}
  const message = messageOf(issue)
  return {
    ...(message === undefined ? {} : { message }),
    ...(typeof code === "string" ? { code } : {}),
    ...(Array.isArray(suggestions) ? { suggestions: suggestions.map(String) } : {})
  }
}

const problemOf = ({ issue, path }: Leaf, part: Issue["in"]): Problem => {
  switch (issue._tag) {
    case "MissingKey":
      return { code: "required", message: "Required" }
    case "UnexpectedKey": {
      const known = SchemaAST.isObjects(issue.ast) ? issue.ast.propertySignatures.map(({ name }) => String(name)) : []
      const name = String(path.at(-1))
      const similar = nearest(name, known)
      const suggestions = similar.length === 0 && part === "query" ? sameMeaning(name, known) : similar
      return { code: "unknownMember", message: `Unknown name "${name}"${didYouMean(suggestions)}`, suggestions }
    }
    case "InvalidType":
      return wrongType(issue, inputOf(issue), part)
    case "Filter": {
      const { code, expected } = issue.filter.annotations ?? {}
      return { code: typeof code === "string" ? code : "invalid", message: `Expected ${expected ?? "another value"}` }
    }
    default:
      return { code: "invalid", message: "Expected another value", ...preparedProblem(issue) }
  }
}

/** How bodies are decoded: a member that is not known is an error. */
export const strict = { onExcessProperty: "error", reportInput: true } as const

/** Of larger bodies, in characters, only the first problem is reported: finding all of them could block the event loop. */
export const maxFullyChecked = 64 * 1024

/** How many issues of a request part a response has. */
export const maxIssues = 20

/** The first issues of a request part. */
export const describe = (issue: SchemaIssue.Issue, part: Issue["in"]): ReadonlyArray<Issue> =>
  leavesOf(issue)
    .slice(0, maxIssues)
    .map((leaf) => {
      const { suggestions = [], ...problem } = problemOf(leaf, part)
      const path = leaf.path.map(String).join(".")
      return { in: part, path, ...problem, ...(suggestions.length > 0 ? { suggestions } : {}) }
    })

/** The error that a schema attached to its issue under `annotation`. */
export const preparedIn = (issue: SchemaIssue.Issue, annotation: string): unknown => {
  const leaves = leavesOf(issue)
  const prepared = leaves.map(({ issue }) => ("annotations" in issue ? issue.annotations?.[annotation] : undefined))
  return leaves.length === 1 ? prepared[0] : undefined
}
