const root = document.documentElement

const isDark = () =>
  root.dataset.theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark"

/** Keeps a choice for the next page, unless the browser blocks the storage. */
const keep = (name, value) => {
  try {
    localStorage.setItem(name, value)
  } catch {
    // It holds on this page.
  }
}

document.querySelector("#theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark"
  keep("waypost-theme", root.dataset.theme)
})

/** Shows the samples of all operations with curl, or all with the typed client. */
const choose = (sample) => {
  root.dataset.sample = sample
  for (const tab of document.querySelectorAll("[data-choose]")) {
    tab.setAttribute("aria-pressed", String(tab.dataset.choose === sample))
  }
}
choose(root.dataset.sample ?? "curl")

/** Shows a fold when an address names something in it. */
const reveal = () => {
  const target = location.hash === "" ? null : document.querySelector(`#${CSS.escape(location.hash.slice(1))}`)
  for (let fold = target?.closest("details"); fold != null; fold = fold.parentElement.closest("details"))
    fold.open = true
  if (target !== null) target.scrollIntoView()
}
addEventListener("hashchange", reveal)
if (location.hash !== "") reveal()

const copyLabel = "Copy"
for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "copy"
  button.textContent = copyLabel
  const frame = document.createElement("div")
  frame.className = "code"
  block.replaceWith(frame)
  frame.append(block, button)
}

const openSearch = async () => {
  const { open } = await import("./search.js")
  open()
}

const menu = document.querySelector("#menu")

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button")
  if (target.closest("#side a") !== null) menu.checked = false
  if (button?.id === "open-search") await openSearch()
  if (button?.dataset.choose !== undefined) {
    const before = button.getBoundingClientRect().top
    choose(button.dataset.choose)
    keep("waypost-sample", button.dataset.choose)
    // Samples above this one may have another height now.
    scrollBy({ top: button.getBoundingClientRect().top - before, behavior: "instant" })
  }
  if (button?.className === "copy") {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent)
    button.textContent = "Copied"
    setTimeout(() => {
      button.textContent = copyLabel
    }, 1500)
  }
})

document.addEventListener("keydown", async (event) => {
  const isTyping = event.target.matches("input, textarea, select")
  const isShortcut = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)
  if (!isShortcut && (event.key !== "/" || isTyping)) return
  event.preventDefault()
  await openSearch()
})

// The event of a fold does not bubble.
document.addEventListener(
  "toggle",
  async ({ target }) => {
    if (!target.matches("details.try[open]")) return
    const { prepare } = await import("./try.js")
    prepare(target.querySelector("form"))
  },
  true
)

// Not in the script of the forms, because a form can be sent before that has loaded.
document.addEventListener("submit", async (event) => {
  if (!event.target.matches("details.try form")) return
  event.preventDefault()
  const { send } = await import("./try.js")
  await send(event.target)
})

/** Marks the operation in view in the side bar. */
const links = new Map([...document.querySelectorAll("#side .operations a")].map((link) => [link.hash.slice(1), link]))
if (links.size > 0) {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        links.get(target.id)?.classList.toggle("in-view", isIntersecting)
    },
    { rootMargin: "-20% 0px -70% 0px" }
  )
  for (const section of document.querySelectorAll("section.operation")) observer.observe(section)
}
document.querySelector("#side [aria-current]")?.scrollIntoView({ block: "nearest" })
