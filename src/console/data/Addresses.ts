import { useSearchParams } from "wouter"

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
