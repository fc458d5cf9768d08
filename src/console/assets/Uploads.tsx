import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { call, labelOf, type Page, textOf, uuidOf } from "../data/Calls.ts"
import { resourceNamed } from "../definition/Resources.ts"
import { CrossButton } from "../shell/CrossButton.tsx"
import { useMessage } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useWords } from "../words/Words.tsx"
import { FileDrop } from "./FileDrop.tsx"
import { changesOf, TagInputs, useTagDefinitions, type Values } from "./TagInputs.tsx"
import { type Running, useUploadList } from "./UploadList.tsx"

/** The category of new files, which decides what meta tags they can have. */
const Category = ({ set, value }: { readonly value: string; readonly set: (key: string) => void }) => {
  const words = useWords()
  const names = useNames()
  const { can, client } = useSession()
  const resource = resourceNamed("asset-categories")
  const { data } = useQuery({
    queryKey: ["categories"],
    enabled: can(resource.actions.list),
    queryFn: ({ signal }) => call<Page>(client, resource.actions.list!, { limit: maxLimit, total: false }, { signal })
  })
  if (data === undefined || data.data.length === 0) return null
  return (
    <label>
      {names.member("category")}
      <select value={value} onChange={(event) => set(event.target.value)}>
        <option value="">{words.choose}</option>
        {data.data.map((record) => (
          <option key={uuidOf(record)} value={textOf(record["key"])}>
            {labelOf(record, resource.label)}
          </option>
        ))}
      </select>
    </label>
  )
}

/**
 * What a file was sent with, and what is chosen by now for what it has no choice of. Meta tags belong to their category, except those
 * of all categories.
 */
const completed = (
  own: Running["asset"],
  chosen: Running["asset"],
  isOfAll: (key: string | undefined) => boolean
): Running["asset"] => {
  const categories = own.categories ?? chosen.categories ?? []
  const metaTags = own.metaTags ?? []
  const keys = new Set(metaTags.map(({ key }) => key))
  const isSameCategory = String(categories) === String(chosen.categories ?? [])
  const added = (chosen.metaTags ?? []).filter(({ key }) => !keys.has(key) && (isSameCategory || isOfAll(key)))
  return { categories, metaTags: [...metaTags, ...added] }
}

let last = 0

/** How many files are sent at a time. */
const together = 2

type Sent = "sent" | "failed" | "removed"

/** Uploads files in parts, shows how far each is, and goes on with one that was interrupted. */
const Uploads = () => {
  const words = useWords()
  const messageOf = useMessage()
  const formats = useFormats()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const { running, setRunning } = useUploadList()
  const [category, setCategory] = useState("")
  const categories = category === "" ? [] : [category]
  const { data: definitions = [] } = useTagDefinitions(categories)
  const [tags, setTags] = useState<Values>({})
  const metaTags = changesOf(definitions, {}, tags)
  const asset: Running["asset"] = {
    ...(categories.length === 0 ? {} : { categories }),
    ...(metaTags.length === 0 ? {} : { metaTags })
  }
  const set = (id: number, change: Partial<Running>) =>
    setRunning((all) => all.map((one) => (one.id === id ? { ...one, ...change } : one)))

  /** Removes what the service has of an upload; one that is completed is rejected. */
  const abort = (uuid: string | undefined) =>
    uuid === undefined ? undefined : void client.uploads.abort(uuid).result()

  const remove = ({ ending, id, problem, resume }: Running) => {
    ending.abort()
    // One that is being sent is aborted when it has ended.
    if (problem !== undefined) abort(resume)
    setRunning((all) => all.filter((one) => one.id !== id))
  }

  /** Sends a file, unless it was removed from the list. */
  const send = async ({ ending: { signal }, file, id, resume, ...one }: Running): Promise<Sent> => {
    if (signal.aborted) return "removed"
    set(id, { problem: undefined })
    let uuid = resume
    const { error } = await client.assets
      .upload(file, {
        ...one.asset,
        signal,
        onProgress: ({ sent }) => set(id, { sent }),
        onStart: (started) => {
          uuid = started
          set(id, { resume: started })
        },
        ...(resume === undefined ? {} : { resume })
      })
      .result()
    if (signal.aborted) {
      abort(uuid)
      return "removed"
    }
    if (error !== undefined) {
      set(id, { problem: messageOf(error).text })
      return "failed"
    }
    setRunning((all) => all.filter((one) => one.id !== id))
    return "sent"
  }

  /** Says how many files of some that were sent arrived. */
  const report = async (outcomes: ReadonlyArray<Sent>) => {
    const done = outcomes.filter((outcome) => outcome === "sent").length
    const failed = outcomes.filter((outcome) => outcome === "failed").length
    if (done > 0) notify(words.uploaded(formats.number(done)))
    if (failed > 0) notify(words.notUploaded(formats.number(failed)))
    // One that was removed may have become an asset before.
    if (failed < outcomes.length) await queries.invalidateQueries()
  }

  const take = async (files: ReadonlyArray<File>) => {
    const queue = files.map((file): Running => ({
      id: ++last,
      file,
      asset,
      sent: 0,
      problem: undefined,
      resume: undefined,
      ending: new AbortController()
    }))
    setRunning((all) => [...all, ...queue])
    const outcomes: Array<Sent> = []
    const waiting = queue.values()
    const work = async () => {
      for (const one of waiting) outcomes.push(await send(one))
    }
    await Promise.all(Array.from({ length: together }, work))
    await report(outcomes)
  }
  const isOfAll = (key: string | undefined) =>
    definitions.some((one) => one["key"] === key && Array.isArray(one["categories"]) && one["categories"].length === 0)
  // What is added now may be chosen otherwise before the next attempt.
  const again = async (one: Running) => report([await send({ ...one, asset: completed(one.asset, asset, isOfAll) })])
  return (
    <section aria-label={words.upload}>
      <details className="object">
        <summary>{words.tagsOfUploads}</summary>
        <Category value={category} set={setCategory} />
        <TagInputs definitions={definitions} values={tags} set={(key, value) => setTags({ ...tags, [key]: value })} />
      </details>
      <FileDrop isMultiple take={(files) => void take(files)} />
      <ul className="uploads">
        {running.map((one) => (
          <li key={one.id}>
            <label htmlFor={`upload-${one.id.toString()}`}>{words.uploading(one.file.name)}</label>
            <progress id={`upload-${one.id.toString()}`} max={one.file.size} value={one.sent} />
            {one.problem === undefined ? null : (
              <>
                <p className="problem" role="alert">
                  {one.problem}
                </p>
                <button type="button" onClick={() => void again(one)}>
                  {words.resume}
                </button>
              </>
            )}
            <CrossButton label={`${words.removeItem} ${one.file.name}`} onClick={() => remove(one)} />
          </li>
        ))}
      </ul>
    </section>
  )
}

export default Uploads
