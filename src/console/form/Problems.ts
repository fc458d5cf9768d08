import type { ErrorSchema } from "@rjsf/utils"
import { isRecord, textOf } from "../data/Calls.ts"
import { pathInForm } from "./Patch.ts"

interface Place {
  [name: string]: Place | Array<string> | undefined
  __errors?: Array<string>
}

/** The members that an error names, with what is wrong with each. */
export const problemsOf = (error: unknown): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  const issues: unknown =
    isRecord(error) || error instanceof Error ? (error as unknown as Record<string, unknown>)["issues"] : undefined
  if (!Array.isArray(issues)) return []
  return issues.filter(isRecord).map((issue) => ({ path: textOf(issue["path"]), message: textOf(issue["message"]) }))
}

/** The same for the fields of a form, which had the data when it was sent. */
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
