import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { call, type Json, textOf } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { Empty, Failure, messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useSpoken } from "../words/Words.tsx"
import { changesOf, shownOf, TagInputs, useTagDefinitions, type Values } from "./TagInputs.tsx"

interface FormProps {
  readonly uuid: string
  readonly definitions: ReadonlyArray<Json>
  readonly tags: ReadonlyArray<Json>
}

const TagForm = ({ definitions, tags, uuid }: FormProps) => {
  const { words } = useSpoken()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const begun = Object.fromEntries(tags.map((tag) => [textOf(tag["key"]), shownOf(tag["value"])]))
  const [values, setValues] = useState<Values>(begun)
  const save = useMutation({
    mutationFn: (metaTags: ReturnType<typeof changesOf>) =>
      call(client, { group: "assets", name: "updateMetaTags" }, uuid, { metaTags }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      notify(words.saved)
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(changesOf(definitions, begun, values))
  }
  return (
    <form className="record-form" onSubmit={submit}>
      <TagInputs definitions={definitions} values={values} set={setValues} />
      {save.error === null ? null : (
        <p className="problem" role="alert">
          {messageOf(save.error).text}
        </p>
      )}
      <p className="actions">
        <button type="submit" className="primary" disabled={save.isPending}>
          {words.save}
        </button>
      </p>
    </form>
  )
}

/** The meta tags of an asset, each with the input of its type. */
const MetaTags = ({ uuid }: { readonly uuid: string }) => {
  const { words } = useSpoken()
  const { client } = useSession()
  const asset = useQuery({
    queryKey: ["record", "assets", uuid, "categories"],
    queryFn: ({ signal }) =>
      call(client, { group: "assets", name: "get" }, uuid, { include: ["categories"] }, { signal })
  })
  const categories = asset.data?.["categories"]
  const definitions = useTagDefinitions(Array.isArray(categories) ? categories.map(textOf) : [])
  const tags = useQuery({
    queryKey: ["asset-tags", uuid],
    queryFn: ({ signal }) =>
      call<ReadonlyArray<Json>>(client, { group: "assets", name: "getMetaTags" }, uuid, {}, { signal })
  })
  const failed = [asset, definitions, tags].find(({ error }) => error !== null)
  if (failed !== undefined) return <Failure error={failed.error} retry={() => void failed.refetch()} />
  if (asset.data === undefined || definitions.data === undefined || tags.data === undefined)
    return <p className="hint">{words.loading}</p>
  if (definitions.data.length === 0) return <Empty title={words.empty} />
  return <TagForm key={JSON.stringify(tags.data)} uuid={uuid} definitions={definitions.data} tags={tags.data} />
}

export default MetaTags
