import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { messageOf } from "../shell/Failure.tsx"
import { useNotify } from "../shell/Notices.tsx"
import { useSession } from "../session/Session.tsx"
import { useSpoken } from "../words/Words.tsx"
import { FileDrop } from "./FileDrop.tsx"

interface Running {
  readonly id: number
  readonly file: File
  readonly sent: number
  readonly problem: string | undefined
  /** The upload that goes on where it stopped. */
  readonly resume: string | undefined
}

let last = 0

/** How many files are sent at a time. */
const together = 2

/** Uploads files in parts, shows how far each is, and goes on with one that was interrupted. */
export const Uploads = () => {
  const { language, words } = useSpoken()
  const notify = useNotify()
  const queries = useQueryClient()
  const { client } = useSession()
  const [running, setRunning] = useState<ReadonlyArray<Running>>([])
  const set = (id: number, change: Partial<Running>) =>
    setRunning((all) => all.map((one) => (one.id === id ? { ...one, ...change } : one)))

  const send = async ({ file, id, resume }: Running): Promise<boolean> => {
    set(id, { problem: undefined })
    const name = file.name.replace(/\.[^.]+$/, "")
    const { error } = await client.assets
      .upload(file, {
        translations: [{ locale: language === "nl" ? "nl-NL" : "en-GB", name }],
        onProgress: ({ sent }) => set(id, { sent }),
        onStart: (uuid) => set(id, { resume: uuid }),
        ...(resume === undefined ? {} : { resume })
      })
      .result()
    if (error !== undefined) {
      set(id, { problem: messageOf(error).text })
      return false
    }
    setRunning((all) => all.filter((one) => one.id !== id))
    return true
  }

  const take = async (files: ReadonlyArray<File>) => {
    const queue = files.map((file): Running => ({ id: ++last, file, sent: 0, problem: undefined, resume: undefined }))
    setRunning((all) => [...all, ...queue])
    let done = 0
    const waiting = queue.values()
    const work = async () => {
      for (const one of waiting) if (await send(one)) done++
    }
    await Promise.all(Array.from({ length: together }, work))
    notify(words.uploaded(done))
    await queries.invalidateQueries()
  }
  return (
    <section aria-label={words.upload}>
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
                <button type="button" onClick={() => void send(one)}>
                  {words.resume}
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
