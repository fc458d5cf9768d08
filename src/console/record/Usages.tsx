import { Listed } from "../shell/Listed.tsx"
import { RecordLink } from "../shell/RecordLink.tsx"
import { type Page, textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import type { Action } from "../definition/Definition.ts"
import { resourceOfType } from "../definition/Resources.ts"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

/** How many references the first page counts from records that the key may not read. */
const hiddenIn = ({ counts = {}, pagination: { total = 0 } }: Page) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0) - total

/** The records that refer to a record. */
export const Usages = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const list = usePages({ action, uuids: [uuid] })
  const first = list.data?.pages[0]
  const hiddenCount = first === undefined ? 0 : hiddenIn(first)
  const hidden = hiddenCount === 0 ? undefined : words.hiddenUsages(formats.number(hiddenCount))
  return (
    <Listed list={list} empty={hidden ?? words.noUsages}>
      {(rows) => (
        <>
          {hidden === undefined ? null : <p className="hint">{hidden}</p>}
          <ul className="plain">
            {rows.map((row) => {
              const resource = resourceOfType(row["type"])
              return (
                <li key={`${textOf(row["type"])} ${textOf(row["uuid"])} ${textOf(row["path"])}`}>
                  <RecordLink record={row} />{" "}
                  <span className="hint">
                    {resource === undefined ? textOf(row["type"]) : names.one(resource.name)},{" "}
                    {names.path(textOf(row["path"]))}
                  </span>
                </li>
              )
            })}
          </ul>
        </>
      )}
    </Listed>
  )
}
