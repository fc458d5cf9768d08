import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"
import { Link } from "wouter"
import { Failure } from "../shell/Failure.tsx"
import { labelOf, textOf, uuidOf, valueAt } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { Nothing } from "../table/Nothing.tsx"
import { useNext, useRecords } from "../table/Records.ts"
import { useFormats, useWords } from "../words/Words.tsx"
import { Thumbnail } from "./Thumbnail.tsx"

const tileWidth = 200
const tileHeight = 210

/** How many tiles are side by side. */
const usePerRow = (element: HTMLElement | null) => {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return Math.max(1, Math.floor(width / tileWidth))
}

/** Pictures and other files as tiles. */
const AssetGrid = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const formats = useFormats()
  const { records, rows, total } = useRecords(resource, [resource.label, "fileNameOriginal", "urls"])
  const [element, setElement] = useState<HTMLDivElement | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const perRow = usePerRow(element)
  const virtual = useVirtualizer({
    count: Math.ceil(rows.length / perRow),
    getScrollElement: () => scroller.current,
    estimateSize: () => tileHeight,
    overscan: 3
  })
  const items = virtual.getVirtualItems()
  const last = (items.at(-1)?.index ?? 0) * perRow
  useNext(records, last >= rows.length - 4 * perRow)
  const failure = records.error === null ? null : <Failure error={records.error} retry={() => void records.refetch()} />
  if (records.data === undefined) return failure ?? <p className="hint">{words.loading}</p>
  if (rows.length === 0) return failure ?? <Nothing resource={resource} />
  return (
    <>
      {failure}
      <p className="count" role="status">
        {words.shownOfTotal(formats.number(rows.length), formats.number(total ?? rows.length))}
      </p>
      <div
        className="scroller"
        role="region"
        aria-label={words.grid}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached with the keyboard
        tabIndex={0}
        ref={(node) => {
          scroller.current = node
          setElement(node)
        }}
      >
        <ul className="grid" style={{ height: virtual.getTotalSize() }}>
          {items.flatMap(({ index, start }) =>
            rows.slice(index * perRow, (index + 1) * perRow).map((record, place) => (
              <li
                key={uuidOf(record)}
                style={{
                  transform: `translate(${(place * 100).toString()}%, ${start.toString()}px)`,
                  width: `${(100 / perRow).toString()}%`
                }}
              >
                <Link href={`/assets/${uuidOf(record)}`}>
                  <Thumbnail src={textOf(valueAt(record, "urls.thumbnail"))} />
                  <span>{labelOf(record, resource.label)}</span>
                </Link>
              </li>
            ))
          )}
        </ul>
      </div>
    </>
  )
}

export default AssetGrid
