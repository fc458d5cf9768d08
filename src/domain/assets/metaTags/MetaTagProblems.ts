import { Result, Struct } from "effect"
import type { MetaTagDefinition, MetaTagType } from "./MetaTag.ts"
import { compile } from "./MetaTagPattern.ts"
import { limits, type Validation } from "./MetaTagValidation.ts"
import type { Issue } from "../../write/RequestErrors.ts"

/** What is wrong with a member of a definition. */
export type Problem = Pick<Issue, "path" | "code" | "message">

type Checked = Pick<MetaTagDefinition, "type" | "options" | "validation">

/** Where walking up from each option to its parent comes back to where it has been: the first option of each circle. */
const circles = (options: Checked["options"]): ReadonlyArray<number> => {
  const parentOf = new Map(options.map(({ parentOptionUuid, uuid }) => [uuid, parentOptionUuid]))
  const ended = new Set<string>()
  return options.flatMap(({ uuid }, index) => {
    const path = new Set<string>()
    let current: string | undefined = uuid
    while (current !== undefined && !ended.has(current) && !path.has(current)) {
      path.add(current)
      current = parentOf.get(current)
    }
    for (const visited of path) ended.add(visited)
    return current !== undefined && path.has(current) ? [index] : []
  })
}

/** What is wrong with the options among themselves. */
export const optionProblems = ({ options, type }: Checked): ReadonlyArray<Problem> => {
  if (options.length > 0 && type !== "select" && type !== "multiSelect") {
    return [{ path: "options", code: "notApplicable", message: "Only select and multiSelect have options" }]
  }
  const seen = new Set<string>()
  const uuids = new Set(options.map(({ uuid }) => uuid))
  const problems: Array<Problem> = []
  for (const [index, { key, parentOptionUuid }] of options.entries()) {
    if (seen.has(key)) {
      problems.push({ path: `options.${index}.key`, code: "notUnique", message: "Another option has this key" })
    }
    seen.add(key)
    if (parentOptionUuid !== undefined && !uuids.has(parentOptionUuid)) {
      const message = "Expected the uuid of another of these options"
      problems.push({ path: `options.${index}.parentOptionUuid`, code: "unknownOption", message })
    }
  }
  const around = circles(options).map((index) => ({
    path: `options.${index}.parentOptionUuid`,
    code: "cycle",
    message: "An option cannot stand below itself"
  }))
  return [...problems, ...around]
}

const textual: ReadonlyArray<MetaTagType> = ["text", "longText", "url"]
const numeric: ReadonlyArray<MetaTagType> = ["integer", "decimal"]

const appliesTo: Readonly<Record<keyof Validation, ReadonlyArray<MetaTagType>>> = {
  minLength: textual,
  maxLength: textual,
  pattern: textual,
  min: numeric,
  max: numeric,
  maxItems: ["multiSelect"]
}

const patternProblems = (pattern: string | undefined): ReadonlyArray<Problem> =>
  pattern === undefined
    ? []
    : Result.match(compile(pattern), {
        onSuccess: () => [],
        onFailure: (message) => [{ path: "validation.pattern", code: "invalidFormat", message }]
      })

/** What is wrong with what a definition demands of its values. */
export const validationProblems = ({ type, validation = {} }: Checked): ReadonlyArray<Problem> => {
  const misplaced = Struct.keys(validation).filter((member) => !appliesTo[member].includes(type))
  if (misplaced.length > 0) {
    return misplaced.map((member) => ({
      path: `validation.${member}`,
      code: "notApplicable",
      message: `Does not apply to ${type}, only to ${appliesTo[member].join(", ")}`
    }))
  }
  const { max = Infinity, maxLength = Infinity, min = -Infinity, minLength = 0, pattern } = validation
  const longest = type === "text" || type === "url" ? limits[type] : limits.longText
  const isBound = (bound: number) => type !== "integer" || !Number.isFinite(bound) || Number.isSafeInteger(bound)
  const demands: ReadonlyArray<readonly [member: keyof Validation, holds: boolean, expected: string]> = [
    ["minLength", minLength <= longest, `at most ${longest} for ${type}`],
    ["maxLength", validation.maxLength === undefined || maxLength <= longest, `at most ${longest} for ${type}`],
    ["minLength", minLength <= maxLength, `at most maxLength, ${maxLength}`],
    ["min", min <= max, `at most max, ${max}`],
    ["min", isBound(min), "a whole number"],
    ["max", isBound(max), "a whole number"]
  ]
  const broken = demands
    .filter(([, holds]) => !holds)
    .map(([member, , expected]) => ({
      path: `validation.${member}`,
      code: "outOfRange",
      message: `Expected ${expected}`
    }))
  return [...broken, ...patternProblems(pattern)]
}
