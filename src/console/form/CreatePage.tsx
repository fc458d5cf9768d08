import { useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import { Failure } from "../shell/Failure.tsx"
import { Heading } from "../shell/Heading.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { begun, begunWith, useAddress } from "../data/Addresses.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { call, textOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import RecordForm from "./RecordForm.tsx"

/** A key, or the secret that signs deliveries: only the answer to the creation has it. */
const secretOf = (created: Json) => textOf(created["key"]) || textOf(created["secret"])

/** Creates a record of a resource. */
const CreatePage = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const notify = useNotify()
  const queries = useQueryClient()
  const address = useAddress()
  const { can, client } = useSession()
  const [, go] = useLocation()
  const [created, setCreated] = useState<Json>()
  const shown = useRef<HTMLElement>(null)
  const { create } = resource.actions
  if (!can(create)) {
    return (
      <Failure error={new Error(words.missingPermissions(resource.actions.create?.permissions.join(", ") ?? ""))} />
    )
  }
  const send = async (data: Json) => {
    const made = await call(client, create, data)
    // A secret, which is shown once, does not wait until all lists are read again.
    void queries.invalidateQueries()
    notify(words.saved)
    if (secretOf(made) !== "") return setCreated(made)
    go(`/${resource.name}/${textOf(made["uuid"])}`)
  }
  if (created !== undefined) {
    const secret = secretOf(created)
    const copy = () =>
      navigator.clipboard.writeText(secret).then(
        () => notify(words.copied),
        // The browser does not let the page write it: the user copies what is selected.
        () => getSelection()?.selectAllChildren(shown.current!)
      )
    return (
      <section className="card">
        <Heading text={words.saved} />
        <p>{words.secretOnce}</p>
        <p>
          <code ref={shown} className="secret">
            {secret}
          </code>
        </p>
        <p className="actions">
          {/* Pages without TLS have no clipboard, unless they are on localhost. */}
          {"clipboard" in navigator ? (
            <button type="button" className="primary" onClick={() => void copy()}>
              {words.copy}
            </button>
          ) : null}
          <Link href={`/${resource.name}/${textOf(created["uuid"])}`}>{words.details}</Link>
        </p>
      </section>
    )
  }
  return (
    <>
      <p>
        <Link href={`/${resource.name}`}>← {names.resource(resource.name)}</Link>
      </p>
      <Heading text={words.createOne(names.one(resource.name))} />
      <p className="hint">{create.description}</p>
      <RecordForm action={create} initial={begunWith(address.get(begun))} send={send} />
    </>
  )
}

export default CreatePage
