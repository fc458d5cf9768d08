import { createContext, type Dispatch, type ReactNode, type SetStateAction, use, useEffect, useState } from "react"
import type { UploadOptions } from "../../client/promise/PromiseClient.ts"

/** A file that is uploaded, or that could not be. */
export interface Running {
  readonly id: number
  readonly file: File
  /** What was chosen for its asset. */
  readonly asset: Pick<UploadOptions, "categories" | "metaTags">
  readonly sent: number
  readonly problem: string | undefined
  /** The upload that goes on where it stopped. */
  readonly resume: string | undefined
}

type All = ReadonlyArray<Running>

const Context = createContext<readonly [All, Dispatch<SetStateAction<All>>]>([[], () => undefined])

export const useUploadList = () => use(Context)

/** Keeps uploads while other screens are shown, and asks before the page ends while files are sent. */
export const UploadList = ({ children }: { readonly children: ReactNode }) => {
  const list = useState<All>([])
  const isSending = list[0].some(({ problem }) => problem === undefined)
  useEffect(() => {
    if (!isSending) return
    const ask = (event: Event) => event.preventDefault()
    addEventListener("beforeunload", ask)
    return () => removeEventListener("beforeunload", ask)
  }, [isSending])
  return <Context value={list}>{children}</Context>
}
