import { type FormEvent, useEffect, useState } from "react"
import { useMessage } from "../shell/Failure.tsx"
import { useWords } from "../words/Words.tsx"
import * as KeptKey from "./KeptKey.ts"

interface Props {
  readonly signIn: (key: string, forLong: boolean) => Promise<void>
  readonly reason: string | undefined
}

/** Asks for a key, unless the tab has one. */
export const SignIn = ({ reason, signIn }: Props) => {
  const words = useWords()
  const messageOf = useMessage()
  const [key, setKey] = useState("")
  const [forLong, setForLong] = useState(false)
  const [problem, setProblem] = useState(reason)
  const [isBusy, setBusy] = useState(() => reason === undefined && KeptKey.read() !== null)
  // The key that may be right, and with which the service could not be asked.
  const [untried, setUntried] = useState<{ readonly key: string; readonly forLong: boolean }>()

  const attempt = (candidate: string, remember: boolean) => {
    setBusy(true)
    signIn(candidate, remember).catch((error: unknown) => {
      const { tag, text } = messageOf(error)
      const isRejected = tag === "UnauthorizedError"
      if (isRejected) KeptKey.drop(candidate)
      setUntried(isRejected ? undefined : { key: candidate, forLong: remember })
      setProblem(isRejected ? words.keyRejected : text)
      setBusy(false)
    })
  }

  useEffect(() => {
    const known = KeptKey.read()
    if (known !== null && reason === undefined) attempt(known, false)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only when the page is opened
  }, [])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    attempt(key.trim(), forLong)
  }
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <h1>
          <img src="/docs/assets/mark.svg" alt="" width="32" height="32" /> Waypost
        </h1>
        <label>
          {words.key}
          <input
            type="password"
            name="key"
            autoComplete="off"
            spellCheck={false}
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
            aria-describedby="key-hint"
          />
        </label>
        <p id="key-hint" className="hint">
          {words.keyHint}
        </p>
        <label className="check">
          <input type="checkbox" checked={forLong} onChange={(event) => setForLong(event.target.checked)} />
          {words.remember}
        </label>
        {problem === undefined ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {words.signIn}
          </button>
          {untried === undefined ? null : (
            <button type="button" disabled={isBusy} onClick={() => attempt(untried.key, untried.forLong)}>
              {words.retry}
            </button>
          )}
        </p>
      </form>
    </main>
  )
}
