import { useEffect } from "react"

/** The heading of a screen, which the tab and the history of the browser have as the title of the page. */
export const Heading = ({ text }: { readonly text: string }) => {
  useEffect(() => {
    const { title } = document
    document.title = `${text} – ${title}`
    return () => {
      document.title = title
    }
  }, [text])
  return <h1>{text}</h1>
}
