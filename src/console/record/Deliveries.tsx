import { useMutation } from "@tanstack/react-query"
import definition from "virtual:definition"
import { call, textOf } from "../data/Calls.ts"
import { useParts } from "../data/Lists.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { Listed } from "../shell/Listed.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { Cell } from "../table/Cell.tsx"
import { useNames, useWords } from "../words/Words.tsx"

const members = ["at", "eventType", "attempt", "state", "status", "durationMs", "error"] as const

const Test = ({ uuid }: { readonly uuid: string }) => {
  const words = useWords()
  const messageOf = useMessage()
  const notify = useNotify()
  const { can, client } = useSession()
  const action = definition.actions["webhooks.test"]
  const test = useMutation({
    mutationFn: () => call(client, action!, uuid),
    onSuccess: ({ error, status }) => notify(status === undefined ? textOf(error) : words.testAnswer(textOf(status))),
    onError: (error) => notify(messageOf(error).text)
  })
  if (!can(action)) return null
  return (
    <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
      {words.sendTest}
    </button>
  )
}

/** What was sent to a webhook, and what its receiver answered. */
const DeliveryList = ({ action, uuid }: { readonly action: Action; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const list = useParts({ action, uuids: [uuid] })
  return (
    <>
      <p className="actions">
        <Test uuid={uuid} />
        <button type="button" onClick={() => void list.refetch()}>
          {words.refresh}
        </button>
      </p>
      <Listed list={list} empty={words.noDeliveries}>
        {(rows) => (
          <table>
            <thead>
              <tr>
                {members.map((member) => (
                  <th scope="col" key={member}>
                    {names.member(member)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${textOf(row["eventId"])} ${textOf(row["attempt"])}`}>
                  {members.map((member) => (
                    <td key={member}>
                      <Cell value={row[member]} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Listed>
    </>
  )
}

export default DeliveryList
