import type { FormEvent } from "react"
import { useAddress } from "../data/Addresses.ts"
import { useTyped } from "../data/Typed.ts"
import { useWords } from "../words/Words.tsx"

/** Finds records by words. */
export const SearchBox = () => {
  const words = useWords()
  const address = useAddress()
  const [text, setText] = useTyped(address.get("search") ?? "")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    address.set({ search: text.trim() })
  }
  return (
    <form role="search" onSubmit={submit} className="search">
      <input
        type="search"
        value={text}
        placeholder={words.searchHint}
        aria-label={words.search}
        onChange={(event) => {
          setText(event.target.value)
          if (event.target.value === "") address.set({ search: undefined })
        }}
      />
      <button type="submit">{words.search}</button>
    </form>
  )
}
