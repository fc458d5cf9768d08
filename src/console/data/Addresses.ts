import { Predicate } from "effect"
import { useSearchParams } from "wouter"
import type { Json } from "../../domain/schema/Json.ts"

/** The part of a view that its address has: filters, order, columns. */
export const useAddress = () => {
  const [parameters, setParameters] = useSearchParams()
  return {
    get: (name: string) => parameters.get(name) ?? undefined,
    /** Sets parameters; `undefined` removes one. A view that is left keeps its place in the history of the browser. */
    set: (values: Readonly<Record<string, string | undefined>>) =>
      setParameters((previous) => {
        const next = new URLSearchParams(previous)
        for (const [name, value] of Object.entries(values)) {
          if (value === undefined || value === "") next.delete(name)
          else next.set(name, value)
        }
        return next
      })
  }
}

/** The parameter with the members that a form begins with. */
export const begun = "with"

/** The address of a form that begins with some members of a new record. */
export const formAddress = (resource: string, members: Json) =>
  `/${resource}/new?${new URLSearchParams({ [begun]: JSON.stringify(members) }).toString()}`

/** The members that a form begins with; none of a parameter that is not JSON. */
export const begunWith = (parameter: string | undefined): Json => {
  try {
    const value: unknown = JSON.parse(parameter ?? "")
    return Predicate.isObject(value) ? value : {}
  } catch {
    return {}
  }
}
