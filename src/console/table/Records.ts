import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useEffect, useMemo } from "react"
import { useAddress } from "../data/Addresses.ts"
import { call, type Page, selected } from "../data/Calls.ts"
import { rowsOf } from "../data/Lists.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"

/** How many records a request asks for. */
const pageSize = 100

/** The filter, the search, the opening hours and the order of the address. */
export const useView = (resource: Resource) => {
  const address = useAddress()
  const search = address.get("search")
  const sortBy = address.get("sort") ?? resource.sortBy
  const sortOrder = address.get("order") ?? (address.get("sort") === undefined ? "desc" : "asc")
  return { filter: address.get("filter"), openAt: address.get("openAt"), search, sortBy, sortOrder }
}

/**
 * The records of a view, page by page behind a cursor, so that the last page of a million is as fast as the first. A search
 * has the best records first, and ordinary pages.
 */
export const useRecords = (resource: Resource, columns: ReadonlyArray<string>) => {
  const { client } = useSession()
  const { filter, openAt, search, sortBy, sortOrder } = useView(resource)
  const isSearch = search !== undefined && resource.actions.search !== undefined
  const fields = resource.hasSelection ? selected(columns) : undefined
  const include = resource.included.filter((name) => columns.some((path) => path.split(".")[0] === name))
  const view = { filter, ...(isSearch ? { search } : { openAt, sortBy, sortOrder }) }
  const action = isSearch ? resource.actions.search : resource.actions.list!
  const records = useInfiniteQuery({
    queryKey: ["records", resource.name, view, fields],
    initialPageParam: isSearch ? "1" : "",
    // In another order, the table stays until it is read, and the focus in it.
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      call<Page>(
        client,
        action,
        {
          ...view,
          fields,
          include: include.length === 0 ? undefined : include,
          limit: pageSize,
          ...(isSearch ? { page: Number(pageParam) } : { after: pageParam, total: false })
        },
        { signal }
      ),
    getNextPageParam: ({ data, pagination }, pages) =>
      isSearch ? (data.length < pageSize ? undefined : String(pages.length + 1)) : pagination.next
  })
  const total = useQuery({
    queryKey: ["total", resource.name, filter, openAt, isSearch ? search : undefined],
    queryFn: ({ signal }) =>
      call<Page>(client, action, { filter, limit: 1, ...(isSearch ? { search } : { openAt }) }, { signal }).then(
        ({ pagination }) => pagination.total
      )
  })
  const rows = useMemo(() => rowsOf(records.data?.pages ?? []), [records.data])
  return { records, rows, total: total.data, isSearch }
}

/** Reads the next records while the last ones are in sight. Those that failed to be read wait for the reader to try again. */
export const useNext = (
  { fetchNextPage, hasNextPage, isFetchNextPageError, isFetchingNextPage }: ReturnType<typeof useRecords>["records"],
  isWanted: boolean
) => {
  const isNext = isWanted && hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  useEffect(() => {
    if (isNext) void fetchNextPage()
  }, [fetchNextPage, isNext])
}
