import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Failure, messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useAddress } from "../data/Addresses.ts"
import { call, type Json } from "../data/Calls.ts"
import type { Module, Resource } from "../definition/Definition.ts"
import RecordForm from "../form/RecordForm.tsx"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { VariantMatrix } from "./VariantMatrix.tsx"

interface Read {
  /** The module, unless the product does not have it. */
  readonly content: Json | undefined
  readonly etag: string | undefined
}

const ModuleForm = ({ module, uuid }: { readonly module: Module; readonly uuid: string }) => {
  const words = useWords()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const [isNew, setNew] = useState(false)
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["module", uuid, module.name],
    queryFn: async ({ signal }): Promise<Read> => {
      const outcome = await call(client, module.get, uuid, { signal }).result()
      if (outcome.error === undefined) return { content: outcome.data, etag: outcome.etag }
      if (outcome.error._tag === "ModuleNotActiveError") return { content: undefined, etag: undefined }
      throw outcome.error
    }
  })
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (isPending) return <p className="hint">{words.loading}</p>
  const done = async (text: string) => {
    setNew(false)
    await queries.invalidateQueries()
    notify(text)
  }
  if (data.content === undefined && !isNew) {
    return (
      <p>
        {words.inactive}{" "}
        {can(module.update) ? (
          <button type="button" onClick={() => setNew(true)}>
            {words.activate}
          </button>
        ) : null}
      </p>
    )
  }
  const remove = () =>
    call(client, module.remove, uuid).then(
      () => done(words.removed("1")),
      (failure: unknown) => notify(messageOf(failure).text)
    )
  return (
    <>
      {module.name === "variants" && data.content !== undefined ? (
        <VariantMatrix product={uuid} content={data.content} />
      ) : null}
      <RecordForm
        key={data.etag ?? "new"}
        action={module.update}
        initial={data.content ?? {}}
        send={async (content) => {
          await call(client, module.update, uuid, content, { ifMatch: data.etag })
          await done(words.saved)
        }}
      />
      {data.content !== undefined && can(module.remove) ? (
        <button type="button" className="danger" onClick={() => void remove()}>
          {words.deactivate}
        </button>
      ) : null}
    </>
  )
}

/** The modules of a product, each with its form. */
const Modules = ({ resource, uuid }: { readonly resource: Resource; readonly uuid: string }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const { can } = useSession()
  const modules = resource.modules.filter(({ get }) => can(get))
  const wanted = address.get("module")
  const current = modules.find(({ name }) => name === wanted) ?? modules[0]
  if (current === undefined) return null
  return (
    <div className="modules">
      <nav aria-label={words.modules}>
        <ul>
          {modules.map(({ name }) => (
            <li key={name}>
              <button
                type="button"
                className="quiet"
                aria-current={name === current.name ? "true" : undefined}
                onClick={() => address.set({ module: name })}
              >
                {names.member(name)}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <section>
        <h2>{names.member(current.name)}</h2>
        <ModuleForm key={current.name} module={current} uuid={uuid} />
      </section>
    </div>
  )
}

export default Modules
