import { useCallback, useEffect, useRef } from "react"
import type { AroundNavHandler } from "wouter"
import { useWords } from "../words/Words.tsx"

/** Marks a form with text that is not saved. While it is sent, the form is left without a question. */
export const unsavedMark = (isUnsaved: boolean, isSent = false) => ({
  "data-unsaved": isUnsaved && isSent ? "sent" : isUnsaved
})

const marked = "[data-unsaved='true']"

/** Whether a form has text that is not saved, or that is sent. */
export const hasTyped = () => document.querySelector(`${marked}, [data-unsaved='sent']`) !== null

const hasUnsaved = (part: ParentNode) => part.querySelector(marked) !== null

/** Lets all forms of a part of the page be left without a question. */
export const discard = (part: ParentNode = document) => {
  for (const form of part.querySelectorAll(marked)) form.removeAttribute("data-unsaved")
}

/** Asks before what is typed into the forms of a part of the page is lost; returns whether it may be. */
export const useLeave = () => {
  const { leaveQuestion } = useWords()
  return useCallback(
    (part: ParentNode) => {
      if (!hasUnsaved(part)) return true
      const mayLeave = confirm(leaveQuestion)
      if (mayLeave) discard(part)
      return mayLeave
    },
    [leaveQuestion]
  )
}

const placeOf = () => location.pathname + location.search

/**
 * Asks before another screen replaces a form with text that is not saved: by a link, the buttons of the browser, or the end of the
 * page.
 */
export const useLeaving = (): AroundNavHandler => {
  const leave = useLeave()
  const place = useRef(placeOf())
  useEffect(() => {
    const go = (event: Event) => {
      if (placeOf() === place.current) return
      if (leave(document)) {
        place.current = placeOf()
        return
      }
      // The address is that of the other screen already, which is not shown.
      event.stopImmediatePropagation()
      history.pushState(null, "", place.current)
    }
    const end = (event: Event) => hasUnsaved(document) && event.preventDefault()
    addEventListener("popstate", go, true)
    addEventListener("beforeunload", end)
    return () => {
      removeEventListener("popstate", go, true)
      removeEventListener("beforeunload", end)
    }
  }, [leave])
  return useCallback(
    (navigate, to, options) => {
      if (!leave(document)) return
      navigate(to, options)
      place.current = placeOf()
    },
    [leave]
  )
}
