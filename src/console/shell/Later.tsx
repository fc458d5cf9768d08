import { type ComponentType, useEffect, useState } from "react"
import { useWords } from "../words/Words.tsx"
import { Failure } from "./Failure.tsx"

type State<P> = { readonly component: ComponentType<P> } | "failed" | undefined

/**
 * A component that loads when it is first shown. `lazy` of React would hide it for 300 ms after its place was drawn without
 * it, however early it arrives.
 */
export const later = <P extends object>(load: () => Promise<{ readonly default: ComponentType<P> }>) => {
  let loaded: State<P>
  const Later = (props: P) => {
    const words = useWords()
    const [state, setState] = useState<State<P>>(loaded)
    useEffect(() => {
      if (state !== undefined) return
      load().then(
        ({ default: component }) => setState((loaded = { component })),
        () => setState("failed")
      )
    }, [state])
    if (state === undefined) return <p className="hint">{words.loading}</p>
    // The browser keeps the failure: only another page loads it again.
    if (state === "failed") {
      return (
        <Failure error={new Error(words.notLoaded)}>
          <button type="button" onClick={() => location.reload()}>
            {words.reload}
          </button>
        </Failure>
      )
    }
    return <state.component {...props} />
  }
  return Later
}
