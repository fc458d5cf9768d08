import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { Confirm } from "../shell/Dialog.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { discard } from "../shell/Leaving.ts"
import { useNotify } from "../shell/Notices.tsx"
import { call } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useWords } from "../words/Words.tsx"

interface Props {
  readonly resource: Resource
  readonly uuid: string
  readonly label: string
}

/** Deletes a record after a question. */
export const RemoveButton = ({ label, resource, uuid }: Props) => {
  const words = useWords()
  const messageOf = useMessage()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const [, go] = useLocation()
  const [isAsking, setAsking] = useState(false)
  const action = resource.actions.delete
  const remove = useMutation({
    mutationFn: () => call(client, action!, uuid),
    onSuccess: async () => {
      // What was typed into the form of the record goes with it.
      discard()
      go(`/${resource.name}`)
      notify(words.removed("1"))
      await queries.invalidateQueries()
    },
    onError: (error) => {
      setAsking(false)
      notify(messageOf(error).text)
    }
  })
  if (!can(action)) return null
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        {words.remove}
      </button>
      {isAsking ? (
        <Confirm
          title={words.removeQuestion(label)}
          {...(resource.actions.restore === undefined ? {} : { hint: words.removeHint })}
          action={words.remove}
          isBusy={remove.isPending}
          confirm={() => remove.mutate()}
          close={() => setAsking(false)}
        />
      ) : null}
    </>
  )
}
