import MiniSearch from "./minisearch.js"

const dialog = document.querySelector("#search-dialog")
const input = dialog.querySelector("input")
const list = dialog.querySelector("ol")
const maxResults = 12

const index = new MiniSearch({
  fields: ["title", "context", "text"],
  storeFields: ["title", "context", "text", "method", "kind", "boost"],
  searchOptions: {
    boost: { title: 5, context: 2 },
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    weights: { prefix: 0.7, fuzzy: 0.2 },
    boostDocument: (_id, _term, { boost }) => boost
  }
})

const loaded = fetch("/docs/assets/search.json")
  .then((response) => response.json())
  .then((records) => index.addAll(records))

/** Records with every word; else those with any. */
const find = (query) => {
  const all = index.search(query, { combineWith: "AND" })
  return (all.length > 0 ? all : index.search(query, { combineWith: "OR" })).slice(0, maxResults)
}

const element = (name, className, text) => {
  const made = document.createElement(name)
  made.className = className
  made.textContent = text
  return made
}

/** The text around the first word that was found. */
const excerpt = (text, terms) => {
  const lower = text.toLowerCase()
  const at = terms.map((term) => lower.indexOf(term)).find((position) => position >= 0) ?? 0
  const from = at < 60 ? 0 : lower.indexOf(" ", at - 50) + 1
  return `${from === 0 ? "" : "… "}${text.slice(from, from + 140)}`
}

const entry = ({ context, id, kind, method, terms, text, title }) => {
  const link = document.createElement("a")
  link.href = id
  const heading = element("strong", "", title)
  if (kind === "operation")
    heading.prepend(element("b", `method ${method.toLowerCase()}`, method === "DELETE" ? "DEL" : method), " ")
  link.append(heading, element("small", "", context))
  if (kind === "guide") link.append(element("span", "", excerpt(text, terms)))
  const item = document.createElement("li")
  item.append(link)
  return item
}

const select = (position) => {
  const items = [...list.children]
  const at = Math.max(0, Math.min(items.length - 1, position))
  for (const [number, item] of items.entries()) item.classList.toggle("selected", number === at)
  items[at]?.scrollIntoView({ block: "nearest" })
}

const selected = () => [...list.children].findIndex((item) => item.classList.contains("selected"))

const show = async () => {
  await loaded
  const query = input.value.trim()
  const found = query === "" ? [] : find(query)
  list.replaceChildren(...found.map(entry))
  if (query !== "" && found.length === 0) list.append(element("li", "none", "Nothing found"))
  select(0)
}

input.addEventListener("input", show)
input.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined) {
    event.preventDefault()
    select(selected() + step)
  }
  if (event.key === "Enter") {
    event.preventDefault()
    list.querySelector(".selected a")?.click()
  }
})
// A click outside the box closes it; so does a result on the page that is open.
dialog.addEventListener("click", ({ target }) => {
  if (target === dialog || target.closest("a") !== null) dialog.close()
})

export const open = () => {
  if (!dialog.open) dialog.showModal()
  input.select()
}
