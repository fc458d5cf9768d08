import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query"
import { useSession } from "../session/Session.tsx"
import { problemsOf } from "../form/Problems.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { call, type Page } from "./Calls.ts"

/** A list that is read page by page as its reader asks for more. */
export type List<P extends { readonly data: ReadonlyArray<Json> }> = UseInfiniteQueryResult<InfiniteData<P>>

/** An operation, and the uuids of its path. */
export interface Listed {
  readonly action: { readonly group: string; readonly name: string }
  readonly uuids?: ReadonlyArray<string>
}

const pageSize = 100

/** The key of the query that reads a list. */
export const keyOf = ({ action, uuids = [] }: Listed) => [action.group, action.name, ...uuids]

/** A list whose pages have numbers and a total. A page of records that are too large is the first tenth of it. */
export const usePages = ({ action, uuids = [] }: Listed): List<Page> => {
  const { client } = useSession()
  return useInfiniteQuery({
    queryKey: keyOf({ action, uuids }),
    initialPageParam: { limit: pageSize, page: 1 },
    queryFn: ({ pageParam, signal }) => {
      const read = ({ limit, page }: typeof pageParam): Promise<Page> =>
        call<Page>(client, action, ...uuids, { limit, page }, { signal }).then(undefined, (error: unknown) => {
          if (limit === 1 || problemsOf(error).every(({ path }) => path !== "limit")) throw error
          return read({ limit: limit / 10, page: (page - 1) * 10 + 1 })
        })
      return read(pageParam)
    },
    getNextPageParam: ({ pagination: { limit, page = 1, total = 0 } }) =>
      limit * page < total ? { limit, page: page + 1 } : undefined
  })
}

/** A page of a log, which goes on behind a cursor. */
export interface Part {
  readonly data: ReadonlyArray<Json>
  readonly cursor: string
  readonly more: boolean
}

/** How often, and in how many milliseconds, a list is read again that lacks what is known to be in it soon. */
const again = { times: 30, after: 1000 }

/** A list whose pages go on behind cursors. It is read again while it `lacks` something. */
export const useParts = (
  { action, uuids = [] }: Listed,
  query: Readonly<Record<string, unknown>> = {},
  lacks: (rows: ReadonlyArray<Json>) => boolean = () => false
): List<Part> => {
  const { client } = useSession()
  return useInfiniteQuery({
    queryKey: keyOf({ action, uuids }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after, signal }) =>
      call<Part>(client, action, ...uuids, { limit: pageSize, ...query, after }, { signal }),
    getNextPageParam: ({ cursor, more }) => (more ? cursor : undefined),
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data !== undefined && dataUpdateCount <= again.times && lacks(data.pages[0]?.data ?? []) ? again.after : false
  })
}

/** The records of the pages that were read. */
export const rowsOf = (pages: ReadonlyArray<{ readonly data: ReadonlyArray<Json> }>): ReadonlyArray<Json> =>
  pages.flatMap(({ data }) => data)
