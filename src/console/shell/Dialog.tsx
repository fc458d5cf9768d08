import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from "react"
import { useWords } from "../words/Words.tsx"
import { CrossButton } from "./CrossButton.tsx"
import { useLeave } from "./Leaving.ts"

interface Props {
  readonly title: string
  readonly close: () => void
  readonly children: ReactNode
}

/** A modal dialog of the browser, which keeps the focus and closes with Escape. It asks before what was typed in it is lost. */
export const Dialog = ({ children, close, title }: Props) => {
  const words = useWords()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const leave = useLeave()
  useLayoutEffect(() => {
    const node = dialog.current!
    node.showModal()
    // Only a dialog that is closed before it is removed gives the focus back to what had it.
    return () => node.close()
  }, [])
  useEffect(() => {
    const ask = (event: KeyboardEvent) => {
      // A dialog in this one closes before it.
      const isLast = dialog.current!.querySelector("dialog") === null
      if (event.key === "Escape" && isLast && !leave(dialog.current!)) event.preventDefault()
    }
    // The focus is not in the dialog when what had it is disabled.
    addEventListener("keydown", ask)
    return () => removeEventListener("keydown", ask)
  }, [leave])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // React also reports here that a dialog in this one was closed.
      onClose={(event) => event.target === event.currentTarget && close()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <CrossButton label={words.close} onClick={() => leave(dialog.current!) && dialog.current!.close()} />
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps extends Omit<Props, "children"> {
  readonly hint?: string
  /** What is below the hint. */
  readonly children?: ReactNode
  readonly action: string
  readonly isBusy: boolean
  readonly confirm: () => void
}

/** Asks before something is done. */
export const Confirm = ({ action, children, close, confirm, hint, isBusy, title }: ConfirmProps) => {
  const words = useWords()
  return (
    <Dialog title={title} close={close}>
      {hint === undefined ? null : <p>{hint}</p>}
      {children}
      <p className="actions">
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={confirm}>
          {action}
        </button>
      </p>
    </Dialog>
  )
}
