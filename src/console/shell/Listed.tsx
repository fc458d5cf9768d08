import type { ReactNode } from "react"
import type { Json } from "../../domain/schema/Json.ts"
import { type List, rowsOf } from "../data/Lists.ts"
import { useWords } from "../words/Words.tsx"
import { Empty } from "./Failure.tsx"
import { Loaded } from "./Loaded.tsx"

interface Props<P extends { readonly data: ReadonlyArray<Json> }> {
  readonly list: List<P>
  /** What is said if there is no record. */
  readonly empty: string
  /** The records that were read, and the first page. */
  readonly children: (rows: ReadonlyArray<Json>, first: P) => ReactNode
}

/** The records of a list as far as they were read, with a button that reads more. */
export const Listed = <P extends { readonly data: ReadonlyArray<Json> }>({ children, empty, list }: Props<P>) => {
  const words = useWords()
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const rows = rowsOf(pages)
        return (
          <>
            {rows.length === 0 ? <Empty title={empty} /> : children(rows, pages[0]!)}
            {list.hasNextPage ? (
              <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                {words.more}
              </button>
            ) : null}
          </>
        )
      }}
    </Loaded>
  )
}
