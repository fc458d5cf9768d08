import { type ComponentType, useEffect, useState } from "react"
import { useWords } from "../words/Words.tsx"

type State<P> = { readonly component: ComponentType<P> } | { readonly error: unknown } | undefined

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
        (error: unknown) => setState({ error })
      )
    }, [state])
    if (state === undefined) return <p className="hint">{words.loading}</p>
    // The nearest boundary shows it.
    if ("error" in state) throw state.error
    return <state.component {...props} />
  }
  return Later
}
