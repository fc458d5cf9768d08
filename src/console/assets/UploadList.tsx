import {
  createContext,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
  use,
  useEffect,
  useMemo,
  useRef,
  useState
} from "react"
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
  /** Ends the upload. */
  readonly ending: AbortController
}

type All = ReadonlyArray<Running>

interface Uploads {
  readonly running: All
  readonly setRunning: Dispatch<SetStateAction<All>>
  /** Whether files are sent, or wait for that. */
  readonly isSending: boolean
}

const Context = createContext<Uploads>({ running: [], setRunning: () => undefined, isSending: false })

export const useUploadList = () => use(Context)

/** Keeps uploads while other screens are shown, asks before the page ends while files are sent, and ends them with the session. */
export const UploadList = ({ children }: { readonly children: ReactNode }) => {
  const [running, setRunning] = useState<All>([])
  const latest = useRef(running)
  latest.current = running
  const isSending = running.some(({ problem }) => problem === undefined)
  useEffect(() => () => latest.current.forEach(({ ending }) => ending.abort()), [])
  useEffect(() => {
    if (!isSending) return
    const ask = (event: Event) => event.preventDefault()
    addEventListener("beforeunload", ask)
    return () => removeEventListener("beforeunload", ask)
  }, [isSending])
  const uploads = useMemo(() => ({ running, setRunning, isSending }), [running, isSending])
  return <Context value={uploads}>{children}</Context>
}
