import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query"
import { useSession } from "../session/Session.tsx"
import { call, type Json, type Page } from "./Calls.ts"

/** A list that is read page by page as its reader asks for more. */
export type List<P extends { readonly data: ReadonlyArray<Json> }> = UseInfiniteQueryResult<InfiniteData<P>>

/** An operation, and the uuids of its path. */
interface Listed {
  readonly action: { readonly group: string; readonly name: string }
  readonly uuids?: ReadonlyArray<string>
}

const pageSize = 100

const keyOf = ({ action, uuids = [] }: Listed) => [action.group, action.name, ...uuids]

/** A list whose pages have numbers and a total. */
export const usePages = ({ action, uuids = [] }: Listed): List<Page> => {
  const { client } = useSession()
  return useInfiniteQuery({
    queryKey: keyOf({ action, uuids }),
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) =>
      call<Page>(client, action, ...uuids, { limit: pageSize, page: pageParam }, { signal }),
    getNextPageParam: ({ pagination }, pages) =>
      pages.length * pageSize < (pagination.total ?? 0) ? pages.length + 1 : undefined
  })
}

/** A page of a log, which goes on behind a cursor. */
export interface Part {
  readonly data: ReadonlyArray<Json>
  readonly cursor: string
  readonly more: boolean
}

/** The log has a change a moment after the answer to the request that made it. */
const refetchInterval = 3000

/** A log, whose pages go on behind cursors; it is read again as long as it is shown. */
export const useParts = ({ action, uuids = [] }: Listed, query: Readonly<Record<string, unknown>> = {}): List<Part> => {
  const { client } = useSession()
  return useInfiniteQuery({
    queryKey: keyOf({ action, uuids }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after, signal }) =>
      call<Part>(client, action, ...uuids, { limit: pageSize, ...query, after }, { signal }),
    getNextPageParam: ({ cursor, more }) => (more ? cursor : undefined),
    refetchInterval
  })
}

/** The records of the pages that were read. */
export const rowsOf = (pages: ReadonlyArray<{ readonly data: ReadonlyArray<Json> }>): ReadonlyArray<Json> =>
  pages.flatMap(({ data }) => data)
