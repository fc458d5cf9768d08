import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useWords } from "../words/Words.tsx"
import { Failure } from "./Failure.tsx"

interface Props<A> {
  readonly query: Pick<UseQueryResult<A>, "data" | "error" | "refetch">
  readonly children: (data: A) => ReactNode
}

/** What a query read. A failure to read it again is shown above it, so that a form keeps what was typed. */
export const Loaded = <A,>({ children, query }: Props<A>) => {
  const words = useWords()
  const { data, error } = query
  const failure = error === null ? null : <Failure error={error} retry={() => void query.refetch()} />
  if (data === undefined) return failure ?? <p className="hint">{words.loading}</p>
  return (
    <>
      {failure}
      {children(data)}
    </>
  )
}
