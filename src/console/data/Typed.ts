import { useState } from "react"

/** A text that is typed over one that applies. What was typed is gone once another one applies. */
export const useTyped = (applied: string) => {
  const [shown, setShown] = useState(applied)
  const [text, setText] = useState(applied)
  if (shown !== applied) {
    setShown(applied)
    setText(applied)
  }
  return [text, setText] as const
}
