import { Link } from "wouter"
import definition from "virtual:definition"
import { Listed } from "../shell/Listed.tsx"
import { textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import type { Action } from "../definition/Definition.ts"
import { useNames, useWords } from "../words/Words.tsx"

/** The records that refer to a record. */
export const Usages = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const list = usePages({ action, uuids: [uuid] })
  return (
    <Listed list={list} empty={words.noUsages}>
      {(rows) => (
        <ul className="plain">
          {rows.map((row) => {
            const resource = definition.resources.find(({ recordType }) => recordType === row["type"])
            const label = textOf(row["label"]) || textOf(row["uuid"])
            return (
              <li key={`${textOf(row["type"])} ${textOf(row["uuid"])} ${textOf(row["path"])}`}>
                {resource === undefined ? (
                  label
                ) : (
                  <Link href={`/${resource.name}/${textOf(row["uuid"])}`}>{label}</Link>
                )}{" "}
                <span className="hint">
                  {resource === undefined ? textOf(row["type"]) : names.one(resource.name)},{" "}
                  {names.path(textOf(row["path"]))}
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Listed>
  )
}
