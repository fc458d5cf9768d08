import { useQueryClient } from "@tanstack/react-query"
import { Link, useLocation } from "wouter"
import { Failure } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { call, type Json, textOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import RecordForm from "./RecordForm.tsx"

/** Creates a record of a resource. */
const CreatePage = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const [, go] = useLocation()
  const { create } = resource.actions
  if (!can(create)) {
    return (
      <Failure error={new Error(words.missingPermissions(resource.actions.create?.permissions.join(", ") ?? ""))} />
    )
  }
  const send = async (data: Json) => {
    const created = await call(client, create, data)
    await queries.invalidateQueries()
    notify(words.saved)
    go(`/${resource.name}/${textOf(created["uuid"])}`)
  }
  return (
    <>
      <p>
        <Link href={`/${resource.name}`}>← {names.resource(resource.name)}</Link>
      </p>
      <h1>{words.createOne(names.one(resource.name))}</h1>
      <p className="hint">{create.description}</p>
      <RecordForm action={create} initial={{}} send={send} />
    </>
  )
}

export default CreatePage
