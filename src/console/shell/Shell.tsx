import { type ReactNode, useEffect, useState } from "react"
import { Link, useLocation } from "wouter"
import definition from "virtual:definition"
import { resourceOf, sides } from "../access/Sides.ts"
import { useUploadList } from "../assets/UploadList.tsx"
import { isImportable } from "../importing/Importable.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useSpoken } from "../words/Words.tsx"
import { useLeave } from "./Leaving.ts"

const themes = ["light", "dark"] as const
const keptTheme = "waypost-theme"

/** The colours that the documentation uses as well. */
const useTheme = () => {
  const [theme, setTheme] = useState(() => localStorage.getItem(keptTheme) ?? "")
  useEffect(() => {
    if (theme === "") delete document.documentElement.dataset["theme"]
    else document.documentElement.dataset["theme"] = theme
    localStorage.setItem(keptTheme, theme)
  }, [theme])
  return [theme, setTheme] as const
}

const Preferences = () => {
  const { language, speak, words } = useSpoken()
  const [theme, setTheme] = useTheme()
  const { name, signOut } = useSession()
  const leave = useLeave()
  const { isSending } = useUploadList()
  const end = () => {
    if (leave(document) && (!isSending || confirm(words.endUploads))) signOut()
  }
  return (
    <div className="preferences">
      <p className="hint">{words.signedInAs(name)}</p>
      <label>
        {words.language}
        <select value={language} onChange={(event) => speak(event.target.value)}>
          <option value="en">English</option>
          <option value="nl">Nederlands</option>
        </select>
      </label>
      <label>
        {words.theme}
        <select value={theme} onChange={(event) => setTheme(event.target.value)}>
          <option value="">{words.asDevice}</option>
          {themes.map((one) => (
            <option key={one} value={one}>
              {words[one]}
            </option>
          ))}
        </select>
      </label>
      <a href="/docs">{words.documentation}</a>
      <button type="button" onClick={end}>
        {words.signOut}
      </button>
    </div>
  )
}

/** What surrounds every page: the resources that the key may read, and its own settings. */
export const Shell = ({ children }: { readonly children: ReactNode }) => {
  const { words } = useSpoken()
  const names = useNames()
  const { can } = useSession()
  const [path] = useLocation()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  const entry = (to: string, text: string) => {
    const isCurrent = to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`)
    return (
      <li key={to}>
        <Link href={to} aria-current={isCurrent ? "page" : undefined}>
          {text}
        </Link>
      </li>
    )
  }
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <header className="bar">
        <Link href="/" className="brand">
          <img src="/docs/assets/mark.svg" alt="" width="24" height="24" /> Waypost
        </Link>
        <button
          type="button"
          className="menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          {words.menu}
        </button>
      </header>
      <nav id="navigation" aria-label={words.console} data-open={isOpen}>
        <ul>
          {entry("/", words.start)}
          {definition.resources
            .filter(({ actions }) => can(actions.list))
            .map(({ name }) => entry(`/${name}`, names.resource(name)))}
        </ul>
        <ul>
          {can(definition.actions["events.list"]) ? entry("/events", words.activity) : null}
          {sides.every((kinds) => kinds.some((kind) => can(resourceOf(kind).actions.list)))
            ? entry("/access", words.access)
            : null}
          {definition.resources.some((resource) => isImportable(resource, can)) ? entry("/import", words.import) : null}
        </ul>
        <Preferences />
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
