import type { ReactNode } from "react"
import { memberOf } from "../../domain/schema/Json.ts"
import { useWords } from "../words/Words.tsx"

interface Described {
  readonly tag: string
  readonly text: string
  readonly requestId: string | undefined
}

/** What an error says, and the request that it belongs to. */
export const messageOf = (error: unknown): Described => {
  const text = (name: string) => {
    const value = memberOf(error, name)
    return typeof value === "string" && value !== "" ? value : undefined
  }
  return { tag: text("_tag") ?? "Error", text: text("message") ?? String(error), requestId: text("requestId") }
}

/** What an error says in the language of the console: the browser, which knows why there is no answer, says so in English. */
export const useMessage = () => {
  const { offline } = useWords()
  return (error: unknown): Described => {
    const described = messageOf(error)
    return described.tag === "ConnectionError" ? { ...described, text: offline } : described
  }
}

/** What went wrong, and a way on. */
export const Failure = ({
  children,
  error,
  retry
}: {
  readonly error: unknown
  readonly retry?: () => void
  readonly children?: ReactNode
}) => {
  const words = useWords()
  const { requestId, text } = useMessage()(error)
  return (
    <div className="failure" role="alert">
      <h2>{words.failure}</h2>
      <p>{text}</p>
      {requestId === undefined ? null : <p className="hint">{words.requestId(requestId)}</p>}
      <p className="actions">
        {retry === undefined ? null : (
          <button type="button" onClick={retry}>
            {words.retry}
          </button>
        )}
        {children}
      </p>
    </div>
  )
}

/** A place without content, and what to do about it. */
export const Empty = ({ children, title }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <p>{title}</p>
    {children}
  </div>
)
