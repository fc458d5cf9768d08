import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Confirm, Dialog } from "../shell/Dialog.tsx"
import { messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { call, isRecord, type Json, textOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { later } from "../shell/Later.tsx"

const RecordForm = later(() => import("../form/RecordForm.tsx"))

/** How many operations a bulk request takes. */
const mostOperations = 1000

interface Bulk {
  readonly data: ReadonlyArray<Json>
}

interface Props {
  readonly resource: Resource
  readonly chosen: ReadonlyArray<string>
  readonly clear: () => void
}

/** What can be done with the chosen records at once. */
export const Selection = ({ chosen, clear, resource }: Props) => {
  const words = useWords()
  const formats = useFormats()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const [step, setStep] = useState<"remove" | "edit">()
  const bulk = resource.actions.bulk
  const write = useMutation({
    mutationFn: async (operationOf: (uuid: string) => Json) => {
      const outcomes: Array<Json> = []
      for (let from = 0; from < chosen.length; from += mostOperations) {
        const operations = chosen.slice(from, from + mostOperations).map(operationOf)
        outcomes.push(...(await call<Bulk>(client, bulk!, { operations })).data)
      }
      return outcomes
    },
    onSettled: () => queries.invalidateQueries()
  })
  if (bulk === undefined || chosen.length === 0) return null
  const count = formats.number(chosen.length)
  const report = (outcomes: ReadonlyArray<Json>, done: (count: string) => string) => {
    const failed = outcomes.filter(({ error }) => error !== undefined)
    notify(done(formats.number(outcomes.length - failed.length)))
    const [first] = failed
    if (first !== undefined) {
      const error = isRecord(first["error"]) ? first["error"] : {}
      notify(`${words.failedMany(formats.number(failed.length))}: ${textOf(error["message"])}`)
    }
    setStep(undefined)
    clear()
  }
  const remove = () =>
    write.mutate((uuid) => ({ op: "delete", uuid }), { onSuccess: (outcomes) => report(outcomes, words.removed) })
  return (
    <div className="selection" role="group" aria-label={words.selected(count)}>
      <span>{words.selected(count)}</span>
      {can(resource.actions.update) ? (
        <button type="button" onClick={() => setStep("edit")}>
          {words.editSelected}
        </button>
      ) : null}
      {can(resource.actions.delete) ? (
        <button type="button" className="danger" onClick={() => setStep("remove")}>
          {words.remove}
        </button>
      ) : null}
      <button type="button" className="quiet" onClick={clear}>
        {words.clearSelection}
      </button>
      {write.error === null ? null : (
        <p className="problem" role="alert">
          {messageOf(write.error).text}
        </p>
      )}
      {step === "remove" ? (
        <Confirm
          title={words.removeMany(count)}
          hint={words.removeHint}
          action={words.remove}
          isBusy={write.isPending}
          confirm={remove}
          close={() => setStep(undefined)}
        />
      ) : null}
      {step === "edit" ? (
        <Dialog title={words.editMany(count)} close={() => setStep(undefined)}>
          <p className="hint">{words.editManyHint}</p>
          <RecordForm
            action={resource.actions.update!}
            initial={{}}
            send={async (data) => {
              const outcomes = await write.mutateAsync((uuid) => ({ op: "update", uuid, data }))
              report(outcomes, words.changedMany)
            }}
          />
        </Dialog>
      ) : null}
    </div>
  )
}
