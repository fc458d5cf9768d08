import { Predicate } from "effect"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { Link } from "wouter"
import { Change } from "../activity/EventList.tsx"
import { Failure } from "../shell/Failure.tsx"
import { Listed } from "../shell/Listed.tsx"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { call, textOf } from "../data/Calls.ts"
import { usePages } from "../data/Lists.ts"
import type { Resource } from "../definition/Definition.ts"
import * as KeptKey from "../session/KeptKey.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"

const kinds = ["create", "update", "unchanged", "delete", "refused"] as const

const ChangeRow = ({ row }: { readonly row: Json }) => {
  const words = useWords()
  const names = useNames()
  const kind = kinds.find((one) => one === row["kind"])
  return (
    <tr data-kind={kind}>
      <td>{typeof row["row"] === "number" ? words.row(row["row"]) : ""}</td>
      <th scope="row">{textOf(row["key"])}</th>
      <td>{kind === undefined ? "" : words.planCounts[kind]}</td>
      <td>
        <ul className="plain">
          {objectsIn(row["issues"]).map((issue) => (
            <li key={`${textOf(issue["path"])} ${textOf(issue["code"])}`} className="problem">
              {names.path(textOf(issue["path"]))}: {textOf(issue["message"])}
            </li>
          ))}
          {objectsIn(row["changes"]).map((change) => (
            <li key={textOf(change["path"])}>
              <Change change={change} />
            </li>
          ))}
        </ul>
      </td>
    </tr>
  )
}

interface Props {
  readonly resource: Resource
  readonly plan: Json
  /** Goes back to the columns from which it was made. */
  readonly leave: () => void
}

/** What a plan would change, row by row, and the button that changes it. */
export const PlanView = ({ leave, plan, resource }: Props) => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const queries = useQueryClient()
  const { client } = useSession()
  const uuid = textOf(plan["uuid"])
  const counts = Predicate.isObject(plan["counts"]) ? plan["counts"] : {}
  const guards = objectsIn(plan["guards"])
  const changes = usePages({ action: { group: "plans", name: "changes" }, uuids: [uuid] })
  // A plan that is or was applied is not deleted when it is no longer shown.
  const isKept = useRef(false)
  const apply = useMutation({
    mutationFn: () => call(client, { group: "plans", name: "apply" }, uuid, guards.length > 0 ? { force: true } : {}),
    onMutate: () => {
      isKept.current = true
    },
    onError: () => {
      isKept.current = false
    },
    onSuccess: () => queries.invalidateQueries()
  })
  useEffect(
    () => () => {
      // A plan that stays expires within a day; until then a key may have only some.
      if (!isKept.current) void call(client, { group: "plans", name: "delete" }, uuid).result()
    },
    [client, uuid]
  )
  useEffect(() => {
    // The client cannot send when the page ends. A browser may show the page again, which then has the columns.
    const end = () => {
      if (isKept.current) return
      const headers = { authorization: KeptKey.read() ?? "" }
      void fetch(`/v1/plans/${uuid}`, { method: "DELETE", headers, keepalive: true })
      leave()
    }
    addEventListener("pagehide", end)
    return () => removeEventListener("pagehide", end)
  }, [leave, uuid])
  const applied = apply.data !== undefined
  return (
    <section>
      <ul className="counts">
        {kinds.map((kind) => (
          <li key={kind} data-kind={kind}>
            <strong>{formats.number(Number(counts[kind] ?? 0))}</strong> {words.planCounts[kind]}
          </li>
        ))}
      </ul>
      {guards.map((guard) => (
        <p key={textOf(guard["code"])} className="problem">
          {textOf(guard["message"])}
        </p>
      ))}
      {applied ? (
        <p role="status" className="done">
          {words.applied} <Link href={`/${resource.name}`}>{words.show(names.resource(resource.name))}</Link>
        </p>
      ) : (
        <p className="actions">
          <button type="button" className="primary" disabled={apply.isPending} onClick={() => apply.mutate()}>
            {apply.isPending ? words.applying : words.applyPlan}
          </button>
          <button type="button" disabled={apply.isPending} onClick={leave}>
            {words.changeColumns}
          </button>
        </p>
      )}
      {apply.error === null ? null : <Failure error={apply.error} />}
      <Listed list={changes} empty={words.noChanges}>
        {(rows) => (
          <table>
            <tbody>
              {rows.map((row) => (
                <ChangeRow key={`${textOf(row["kind"])} ${textOf(row["key"])} ${String(row["row"])}`} row={row} />
              ))}
            </tbody>
          </table>
        )}
      </Listed>
    </section>
  )
}
