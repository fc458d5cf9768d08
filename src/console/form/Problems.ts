import type { ErrorSchema } from "@rjsf/utils"
import { isRecord, textOf } from "../data/Calls.ts"
import type { Forms, FormSchema } from "../definition/Definition.ts"
import { pathInForm, schemaOf } from "./Patch.ts"

interface Place {
  [name: string]: Place | Array<string> | undefined
  __errors?: Array<string>
}

interface Problem {
  readonly path: string
  readonly message: string
}

/** The members that an error names, with what is wrong with each. */
export const problemsOf = (error: unknown): ReadonlyArray<Problem> => {
  const issues: unknown =
    isRecord(error) || error instanceof Error ? (error as unknown as Record<string, unknown>)["issues"] : undefined
  if (!Array.isArray(issues)) return []
  return issues.filter(isRecord).map((issue) => ({ path: textOf(issue["path"]), message: textOf(issue["message"]) }))
}

/** Those of members that a form does not have: a product is not published if something is wrong with its modules. */
export const problemsElsewhere = (
  problems: ReadonlyArray<Problem>,
  form: FormSchema,
  definitions: Forms["definitions"]
): ReadonlyArray<Problem> => {
  const { properties = {} } = schemaOf(form, definitions)
  const members = new Set(Object.keys(properties as object))
  return problems.filter(({ path }) => path !== "" && !members.has(path.split(".")[0]!))
}

/** The problems of an error at the fields of a form, which had the data when it was sent. */
export const errorsOf = (error: unknown, data: unknown): ErrorSchema => {
  const root: Place = {}
  for (const { message, path } of problemsOf(error)) {
    let place = root
    for (const name of pathInForm(data, path === "" ? [] : path.split("."))) {
      place[name] ??= {}
      place = place[name] as Place
    }
    place.__errors = [...(place.__errors ?? []), message]
  }
  return root as ErrorSchema
}
