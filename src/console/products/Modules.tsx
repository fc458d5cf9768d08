import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { Confirm } from "../shell/Dialog.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { discard, hasTyped } from "../shell/Leaving.ts"
import { Loaded } from "../shell/Loaded.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useAddress } from "../data/Addresses.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { call, textOf, uuidOf } from "../data/Calls.ts"
import type { Module, Resource } from "../definition/Definition.ts"
import EditForm, { type Read } from "../form/EditForm.tsx"
import { Members } from "../record/Details.tsx"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { VariantMatrix } from "./VariantMatrix.tsx"

/** A module that a product does not have, which alone has no tag. */
const none: Read = { record: {}, etag: undefined }

/** Says that a product has the values of its parent, and what saving does. */
const Inherited = ({
  isEditable,
  module,
  parent
}: {
  readonly isEditable: boolean
  readonly module: Module
  readonly parent: string
}) => {
  const words = useWords()
  return (
    <p className="hint">
      <Link href={`/products/${parent}/modules?module=${module.name}`}>{words.inherited}</Link>{" "}
      {isEditable ? words.inheritedUntilSaved : null}
    </p>
  )
}

interface Props {
  readonly module: Module
  /** The type of the product. */
  readonly type: string
  readonly uuid: string
}

const ModuleForm = ({ module, type, uuid }: Props) => {
  const words = useWords()
  const messageOf = useMessage()
  const names = useNames()
  const notify = useNotify()
  const queries = useQueryClient()
  const { can, client } = useSession()
  const [isNew, setNew] = useState(false)
  // Whether the module was active when it was read.
  const [wasActive, setWasActive] = useState(false)
  const [isAsking, setAsking] = useState(false)
  // After a removal the form begins again, with what the product has then.
  const [removals, setRemovals] = useState(0)
  const isEditable = module.owners.includes(type) && can(module.update)
  const queryKey = ["module", uuid, module.name]
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Read> => {
      const { data, error, etag } = await call(client, module.get, uuid, { signal }).result()
      if (error === undefined) return { record: data, etag }
      if (error._tag === "ModuleNotActiveError") return none
      throw error
    }
  })
  const remove = useMutation({
    mutationFn: () => call(client, module.remove, uuid),
    onSuccess: async () => {
      // What was typed goes with the values.
      discard()
      setNew(false)
      await queries.invalidateQueries()
      setRemovals((count) => count + 1)
      notify(words.deactivated)
    },
    onError: (error) => notify(messageOf(error).text),
    onSettled: () => setAsking(false)
  })
  if (query.data?.etag !== undefined && !wasActive) setWasActive(true)
  return (
    <Loaded query={query}>
      {({ etag, record }) =>
        // A form in which something was typed stays, also if another client deactivated the module.
        etag === undefined && !isNew && !(wasActive && hasTyped()) ? (
          <p>
            {words.inactive}{" "}
            {isEditable ? (
              <button type="button" onClick={() => setNew(true)}>
                {words.activate}
              </button>
            ) : null}
          </p>
        ) : (
          <>
            {module.name === "variants" && etag !== undefined ? (
              <VariantMatrix product={uuid} content={record} />
            ) : null}
            {record["inheritedFrom"] === undefined ? null : (
              <Inherited isEditable={isEditable} module={module} parent={textOf(record["inheritedFrom"])} />
            )}
            {isEditable ? (
              <EditForm key={removals} action={module.update} uuid={uuid} read={{ record, etag }} queryKey={queryKey} />
            ) : (
              <Members node={record} />
            )}
            {etag !== undefined && record["inheritedFrom"] === undefined && can(module.remove) ? (
              <button type="button" className="danger" onClick={() => setAsking(true)}>
                {words.deactivate}
              </button>
            ) : null}
            {isAsking ? (
              <Confirm
                title={words.deactivateQuestion(names.member(module.name))}
                hint={words.deactivateHint}
                action={words.deactivate}
                isBusy={remove.isPending}
                confirm={() => remove.mutate()}
                close={() => setAsking(false)}
              />
            ) : null}
          </>
        )
      }
    </Loaded>
  )
}

/** The modules of a product, each with its form. */
const Modules = ({ product, resource }: { readonly product: Json; readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const { can } = useSession()
  const type = textOf(product["type"])
  const modules = resource.modules.filter(({ get, holders }) => holders.includes(type) && can(get))
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
        <ModuleForm key={current.name} module={current} type={type} uuid={uuidOf(product)} />
      </section>
    </div>
  )
}

export default Modules
