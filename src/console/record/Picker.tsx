import { useQuery } from "@tanstack/react-query"
import { useDeferredValue, useState } from "react"
import { Dialog } from "../shell/Dialog.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { unsavedMark } from "../shell/Leaving.ts"
import { call, fieldOf, labelOf, type Page, selected, uuidOf } from "../data/Calls.ts"
import * as Filters from "../data/Filters.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const maxChoices = 20

interface Props {
  readonly resource: Resource
  /** Whether one record is chosen, by a click. */
  readonly isSingle?: boolean
  /** Why the records that were picked could not be taken. */
  readonly problem?: unknown
  readonly isBusy?: boolean
  readonly pick: (uuids: ReadonlyArray<string>) => void
  readonly close: () => void
}

/** Chooses records of a resource by a part of their name. */
export const Picker = ({ close, isBusy = false, isSingle = false, pick, problem = null, resource }: Props) => {
  const words = useWords()
  const messageOf = useMessage()
  const formats = useFormats()
  const names = useNames()
  const { client } = useSession()
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const wanted = useDeferredValue(text.trim())
  const filter =
    wanted === ""
      ? undefined
      : Filters.print([{ field: fieldOf(resource.label), operator: "contains", values: [wanted] }])
  const { data, error: unread } = useQuery({
    queryKey: ["picker", resource.name, filter],
    queryFn: ({ signal }) =>
      call<Page>(
        client,
        resource.actions.list!,
        { filter, limit: maxChoices, fields: selected([resource.label]), total: false },
        { signal }
      )
  })
  const error = problem ?? unread
  const toggle = (uuid: string, label: string) =>
    setChosen((known) => {
      const next = new Map(known)
      if (!next.delete(uuid)) next.set(uuid, label)
      return next
    })
  return (
    <Dialog title={`${isSingle ? words.choose : words.add} ${names.resource(resource.name)}`} close={close}>
      <input
        type="search"
        aria-label={words.search}
        value={text}
        onChange={(event) => setText(event.target.value)}
        // The form that the dialog belongs to is not sent.
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {error === null ? null : (
        <p className="problem" role="alert">
          {messageOf(error).text}
        </p>
      )}
      <ul className="choices">
        {(data?.data ?? []).map((record) => {
          const [uuid, label] = [uuidOf(record), labelOf(record, resource.label)]
          return (
            <li key={uuid}>
              {isSingle ? (
                <button type="button" className="quiet" onClick={() => pick([uuid])}>
                  {label}
                </button>
              ) : (
                <label className="check">
                  <input
                    type="checkbox"
                    checked={chosen.has(uuid)}
                    disabled={isBusy}
                    onChange={() => toggle(uuid, label)}
                  />
                  {label}
                </label>
              )}
            </li>
          )
        })}
      </ul>
      {data?.data.length === 0 ? <p className="hint">{words.noneMatch}</p> : null}
      {isSingle ? null : (
        <p className="actions" {...unsavedMark(chosen.size > 0)}>
          <span className="hint">{words.selected(formats.number(chosen.size))}</span>
          <button
            type="button"
            className="primary"
            disabled={isBusy || chosen.size === 0}
            onClick={() => pick([...chosen.keys()])}
          >
            {words.add}
          </button>
        </p>
      )}
    </Dialog>
  )
}
