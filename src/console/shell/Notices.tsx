import { createContext, type ReactNode, use, useCallback, useState } from "react"
import { useWords } from "../words/Words.tsx"
import { CrossButton } from "./CrossButton.tsx"

interface Notice {
  readonly id: number
  readonly text: string
}

const Context = createContext<(text: string) => void>(() => undefined)

/** Says what was done, to the eye and to screen readers. */
export const useNotify = () => use(Context)

let last = 0
export const shownMillis = 6000

export const Notices = ({ children }: { readonly children: ReactNode }) => {
  const words = useWords()
  const [notices, setNotices] = useState<ReadonlyArray<Notice>>([])
  const remove = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), [])
  const notify = useCallback(
    (text: string) => {
      const id = ++last
      setNotices((all) => [...all, { id, text }])
      setTimeout(remove, shownMillis, id)
    },
    [remove]
  )
  return (
    <Context value={notify}>
      {children}
      <div className="notices" role="status" aria-live="polite">
        {notices.map(({ id, text }) => (
          <p key={id}>
            {text}
            <CrossButton label={words.close} onClick={() => remove(id)} />
          </p>
        ))}
      </div>
    </Context>
  )
}
