import { type ErrorSchema, ErrorSchemaBuilder } from "@rjsf/utils"
import { Predicate } from "effect"
import { textOf } from "../data/Calls.ts"
import type { Forms, FormSchema } from "../definition/Definition.ts"
import { pathInForm, schemaOf } from "./Patch.ts"

interface Problem {
  readonly path: string
  readonly message: string
}

/** The members that an error names, with what is wrong with each. */
export const problemsOf = (error: unknown): ReadonlyArray<Problem> => {
  const issues = Predicate.hasProperty(error, "issues") ? error.issues : undefined
  if (!Array.isArray(issues)) return []
  return issues
    .filter(Predicate.isObject)
    .map((issue) => ({ path: textOf(issue["path"]), message: textOf(issue["message"]) }))
}

/** Those of members that a form does not have: a product is not published if something is wrong with its modules. */
export const problemsElsewhere = (
  problems: ReadonlyArray<Problem>,
  form: FormSchema,
  definitions: Forms["definitions"]
): ReadonlyArray<Problem> => {
  const { properties } = schemaOf(form, definitions)
  const members = new Set(Predicate.isObject(properties) ? Object.keys(properties) : [])
  return problems.filter(({ path }) => path !== "" && !members.has(path.split(".")[0]!))
}

/** The problems of an error at the fields of a form, which had the data when it was sent. */
export const errorsOf = (error: unknown, data: unknown): ErrorSchema => {
  const errors = new ErrorSchemaBuilder()
  for (const { message, path } of problemsOf(error)) {
    errors.addErrors(message, [...pathInForm(data, path === "" ? [] : path.split("."))])
  }
  return errors.ErrorSchema
}
