import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"
import { Link } from "wouter"
import { Failure } from "../shell/Failure.tsx"
import { useAddress } from "../data/Addresses.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { labelOf, uuidOf, valueAt } from "../data/Calls.ts"
import type { Column, Resource } from "../definition/Definition.ts"
import { useFormats, useNames, useWords } from "../words/Words.tsx"
import { Cell } from "./Cell.tsx"
import { useColumns } from "./ColumnChoice.tsx"
import { Nothing } from "./Nothing.tsx"
import { useNext, useRecords, useView } from "./Records.ts"
import { Selection } from "./Selection.tsx"

const rowHeight = 41

const SortButton = ({ column, resource }: { readonly column: Column; readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const { sortBy, sortOrder } = useView(resource)
  const next = sortBy === column.path && sortOrder === "asc" ? "desc" : "asc"
  const name = names.path(column.path)
  return (
    <button
      type="button"
      className="quiet"
      title={next === "asc" ? words.sortAscending(name) : words.sortDescending(name)}
      onClick={() => address.set({ sort: column.path, order: next })}
    >
      {name}
      <span aria-hidden="true">{sortBy === column.path ? (sortOrder === "asc" ? " ↑" : " ↓") : ""}</span>
    </button>
  )
}

const sortDirection = { asc: "ascending", desc: "descending" } as const

/** The records of a view as a table. Only the rows in sight are in the page, and more are read as the reader scrolls. */
export const RecordTable = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const paths = useColumns(resource)
  const { sortBy, sortOrder } = useView(resource)
  const { isSearch, records, rows, total } = useRecords(resource, [...new Set([resource.label, ...paths])])
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useNext(records, last >= rows.length - 40)

  useEffect(() => scroller.current?.scrollTo({ top: 0 }), [sortBy, sortOrder])

  const failure = records.error === null ? null : <Failure error={records.error} retry={() => void records.refetch()} />
  if (records.data === undefined) return failure ?? <p className="hint">{words.loading}</p>
  if (rows.length === 0) return failure ?? <Nothing resource={resource} />

  const columnOf = (path: string) => resource.columns.find((column) => column.path === path)
  const toggle = (uuid: string) =>
    setSelection((chosen) => {
      const next = new Set(chosen)
      if (!next.delete(uuid)) next.add(uuid)
      return next
    })
  const all = rows.map(uuidOf)
  const isAll = selection.size > 0 && all.every((uuid) => selection.has(uuid))
  const before = items[0]?.start ?? 0
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  const cell = (record: Json, path: string, index: number) => {
    const value = <Cell value={valueAt(record, path)} kind={columnOf(path)?.kind} />
    if (index > 0) return <td key={path}>{value}</td>
    return (
      <th scope="row" key={path}>
        <Link href={`/${resource.name}/${uuidOf(record)}`}>
          {valueAt(record, path) === undefined ? labelOf(record, resource.label) : value}
        </Link>
      </th>
    )
  }
  return (
    <>
      {failure}
      <p className="count" role="status">
        {total === undefined
          ? formats.number(rows.length)
          : words.shownOfTotal(formats.number(rows.length), formats.number(total))}
      </p>
      <Selection resource={resource} chosen={[...selection]} choose={(uuids) => setSelection(new Set(uuids))} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached with the keyboard */}
      <div className="scroller" ref={scroller} role="region" aria-label={names.resource(resource.name)} tabIndex={0}>
        <table aria-busy={records.isPlaceholderData} aria-rowcount={(total ?? rows.length) + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col" className="narrow">
                <input
                  type="checkbox"
                  aria-label={words.selectAll}
                  checked={isAll}
                  onChange={() => setSelection(isAll ? new Set() : new Set(all))}
                />
              </th>
              {paths.map((path) => {
                const column = columnOf(path)
                const isSorted = !isSearch && sortBy === path
                return (
                  <th
                    scope="col"
                    key={path}
                    aria-sort={isSorted ? sortDirection[sortOrder === "asc" ? "asc" : "desc"] : undefined}
                  >
                    {column?.isSortable === true && !isSearch ? (
                      <SortButton column={column} resource={resource} />
                    ) : (
                      names.path(path)
                    )}
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {before > 0 ? <tr aria-hidden="true" style={{ height: before }} /> : null}
            {items.map(({ index }) => {
              const record = rows[index]!
              const uuid = uuidOf(record)
              return (
                <tr key={uuid} aria-rowindex={index + 2} data-selected={selection.has(uuid)}>
                  <td className="narrow">
                    <input
                      type="checkbox"
                      aria-label={words.select(labelOf(record, resource.label))}
                      checked={selection.has(uuid)}
                      onChange={() => toggle(uuid)}
                    />
                  </td>
                  {paths.map((path, place) => cell(record, path, place))}
                </tr>
              )
            })}
            {after > 0 ? <tr aria-hidden="true" style={{ height: after }} /> : null}
          </tbody>
        </table>
      </div>
    </>
  )
}
