import { Effect } from "effect"
import { type AnyModule, InvalidTemplateModuleConfigurationError } from "../../domain/catalog/ProductModule.ts"
import type { Problem } from "../../domain/write/Completion.ts"
import { InvalidRequestError, type Issue } from "../../domain/write/RequestErrors.ts"

/** Problems as issues of a request, below a path. */
export const asIssues = (problems: ReadonlyArray<Problem>, below = ""): ReadonlyArray<Issue> =>
  problems.map(({ path, ...problem }) => ({
    in: "body" as const,
    path: [below, path].filter((part) => part !== "").join("."),
    ...problem
  }))

/** Fails with the problems, if there are any: those of a template have an error of their own. */
export const failWith = (module: AnyModule, problems: ReadonlyArray<Problem>) => {
  if (problems.length === 0) return Effect.void
  return module.name === "template"
    ? Effect.fail(InvalidTemplateModuleConfigurationError.of(problems))
    : Effect.fail(InvalidRequestError.of(asIssues(problems)))
}
