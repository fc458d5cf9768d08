import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import definition from "virtual:definition"
import { call, type Json, textOf } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { Empty, Failure, messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

interface Deliveries {
  readonly data: ReadonlyArray<Json>
  readonly cursor: string
  readonly more: boolean
}

const pageSize = 50
const members = ["at", "eventType", "attempt", "state", "status", "durationMs", "error"] as const

const Test = ({ uuid }: { readonly uuid: string }) => {
  const words = useWords()
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
  const formats = useFormats()
  const { client } = useSession()
  const queries = useQueryClient()
  const key = ["deliveries", uuid]
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call<Deliveries>(
        client,
        action,
        uuid,
        { limit: pageSize, ...(pageParam === undefined ? {} : { after: pageParam }) },
        { signal }
      ),
    getNextPageParam: ({ cursor, more }) => (more ? cursor : undefined)
  })
  if (list.error !== null) return <Failure error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <p className="hint">{words.loading}</p>
  const rows = list.data.pages.flatMap(({ data }) => data)
  return (
    <>
      <p className="actions">
        <Test uuid={uuid} />
        <button type="button" onClick={() => void queries.invalidateQueries({ queryKey: key })}>
          {words.retry}
        </button>
      </p>
      {rows.length === 0 ? <Empty title={words.noHistory} /> : null}
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
                <td key={member}>{member === "at" ? formats.time(textOf(row["at"])) : textOf(row[member])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {list.hasNextPage ? (
        <button type="button" onClick={() => void list.fetchNextPage()}>
          {words.more}
        </button>
      ) : null}
    </>
  )
}

export default DeliveryList
