import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import type { Json } from "../../domain/schema/Json.ts"
import { call, textOf } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { Empty, useMessage } from "../shell/Failure.tsx"
import { unsavedMark } from "../shell/Leaving.ts"
import { Loaded } from "../shell/Loaded.tsx"
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
  const messageOf = useMessage()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const begun = Object.fromEntries(tags.map((tag) => [textOf(tag["key"]), shownOf(tag["value"])]))
  // Without those that were not typed, which may be read again.
  const [typed, setTyped] = useState<Values>({})
  const values = { ...begun, ...typed }
  const changes = changesOf(definitions, begun, values)
  const save = useMutation({
    mutationFn: (metaTags: ReturnType<typeof changesOf>) =>
      call(client, { group: "assets", name: "updateMetaTags" }, uuid, { metaTags }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      setTyped({})
      notify(words.saved)
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(changes)
  }
  return (
    <form className="record-form" onSubmit={submit}>
      <fieldset disabled={save.isPending} {...unsavedMark(changes.length > 0, save.isPending)}>
        <TagInputs
          definitions={definitions}
          held={begun}
          values={values}
          set={(key, value) => setTyped({ ...typed, [key]: value })}
        />
      </fieldset>
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
  return (
    <Loaded query={asset}>
      {() => (
        <Loaded query={definitions}>
          {(all) =>
            all.length === 0 ? (
              <Empty title={words.empty} />
            ) : (
              <Loaded query={tags}>{(read) => <TagForm uuid={uuid} definitions={all} tags={read} />}</Loaded>
            )
          }
        </Loaded>
      )}
    </Loaded>
  )
}

export default MetaTags
