import { useState } from "react"
import { Confirm, Dialog } from "../shell/Dialog.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import type { Json } from "../../domain/schema/Json.ts"
import type { Resource } from "../definition/Definition.ts"
import { problemsOf } from "../form/Problems.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { later } from "../shell/Later.tsx"
import { type Failed, useBulk } from "./Bulk.ts"

const RecordForm = later(() => import("../form/RecordForm.tsx"))

/** How many operations failed, and every reason once. */
const Failures = ({ failed }: { readonly failed: ReadonlyArray<Failed> }) => {
  const words = useWords()
  const formats = useFormats()
  const messageOf = useMessage()
  if (failed.length === 0) return null
  const messagesOf = ({ error }: Failed): ReadonlyArray<string> => {
    const problems = problemsOf(error)
    return problems.length === 0 ? [messageOf(error).text] : problems.map(({ message }) => message)
  }
  return (
    <div className="problem" role="alert">
      <p>{words.failedMany(formats.number(failed.length))}</p>
      <ul className="plain">
        {[...new Set(failed.flatMap(messagesOf))].map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </div>
  )
}

interface Props {
  readonly resource: Resource
  readonly chosen: ReadonlyArray<string>
  readonly choose: (uuids: ReadonlyArray<string>) => void
}

/** What can be done with the chosen records at once. Those that it fails for stay chosen. */
export const Selection = ({ choose, chosen, resource }: Props) => {
  const words = useWords()
  const formats = useFormats()
  const notify = useNotify()
  const { can } = useSession()
  const [step, setStep] = useState<"remove" | "edit">()
  const { bulk, update } = resource.actions
  const write = useBulk(bulk)
  if (bulk === undefined || chosen.length === 0) return null
  const count = formats.number(chosen.length)
  const begin = (next: "remove" | "edit") => {
    write.reset()
    setStep(next)
  }
  const run = async (operation: Json, done: (count: string) => string) => {
    const failed = await write.mutateAsync(chosen.map((uuid) => ({ ...operation, uuid })))
    if (failed.length < chosen.length) notify(done(formats.number(chosen.length - failed.length)))
    if (failed.length === 0) setStep(undefined)
    choose(failed.map(({ uuid }) => uuid))
    return failed
  }
  const edit = async (data: Json) => {
    const failed = await run({ op: "update", data }, words.changedMany)
    // The form shows the problems of members at their fields.
    const invalid = failed.find(({ error }) => problemsOf(error).length > 0)
    if (invalid !== undefined) throw invalid.error
  }
  const failures = <Failures failed={write.data ?? []} />
  return (
    <div className="selection" role="group" aria-label={words.selected(count)}>
      <span>{words.selected(count)}</span>
      {can(update) ? (
        <button type="button" onClick={() => begin("edit")}>
          {words.editSelected}
        </button>
      ) : null}
      {can(resource.actions.delete) ? (
        <button type="button" className="danger" onClick={() => begin("remove")}>
          {words.remove}
        </button>
      ) : null}
      <button type="button" className="quiet" onClick={() => choose([])}>
        {words.clearSelection}
      </button>
      {step === "remove" ? (
        <Confirm
          title={words.removeMany(count)}
          hint={words.removeHint}
          action={words.remove}
          isBusy={write.isPending}
          confirm={() => void run({ op: "delete" }, words.removed)}
          close={() => setStep(undefined)}
        >
          {failures}
        </Confirm>
      ) : null}
      {step === "edit" ? (
        <Dialog title={words.editMany(count)} close={() => setStep(undefined)}>
          <p className="hint">{words.editManyHint}</p>
          {failures}
          <RecordForm action={update!} initial={{}} send={edit} />
        </Dialog>
      ) : null}
    </div>
  )
}
