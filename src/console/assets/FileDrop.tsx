import { type DragEvent, useId, useState } from "react"
import { useWords } from "../words/Words.tsx"

interface Props {
  readonly accept?: string
  readonly isMultiple: boolean
  readonly take: (files: ReadonlyArray<File>) => void
}

/** Takes files that are dropped on it or chosen. */
export const FileDrop = ({ accept, isMultiple, take }: Props) => {
  const words = useWords()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take([...event.dataTransfer.files])
  }
  return (
    <div
      className="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id}>{words.dropFiles}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        multiple={isMultiple}
        onChange={(event) => {
          take([...(event.target.files ?? [])])
          event.target.value = ""
        }}
      />
    </div>
  )
}
