/** The key stays in this tab, until the tab is closed. */
const keyName = "waypost-key"

/** What the storage of the tab returns; nothing where the browser blocks it. */
const stored = (use) => {
  try {
    return use(sessionStorage)
  } catch {
    return undefined
  }
}

const keyOf = (form) => form.querySelector("[data-key]")

const element = (name, className, text) => {
  const made = document.createElement(name)
  made.className = className
  made.textContent = text
  return made
}

/** The URL and headers of a form. Empty fields are not sent. */
const requestOf = (form) => {
  let path = form.dataset.path
  const query = new URLSearchParams()
  const headers = { authorization: keyOf(form).value }
  for (const { dataset, name, value } of form.querySelectorAll("[data-in]")) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== "" && dataset.in === "query") query.append(name, value)
    else if (value !== "") headers[name] = value
  }
  const body = form.querySelector("textarea")?.value
  if (body !== undefined) headers["content-type"] = "application/json"
  const url = query.size === 0 ? path : `${path}?${query}`
  return { url, init: { method: form.dataset.method, headers, ...(body === undefined ? {} : { body }) } }
}

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/** How many characters of a stream stay on the page. */
const maxStreamed = 100_000

/** Shows a stream as it arrives, until its end or until `stop` is used. */
const follow = async (response, output, stop) => {
  const button = element("button", "button quiet", "Stop")
  button.type = "button"
  button.addEventListener("click", stop)
  const shown = element("pre", "", "")
  output.append(button, shown)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      shown.textContent = (shown.textContent + part.value).slice(-maxStreamed)
    }
  } finally {
    button.remove()
  }
}

const outcome = (status, ...facts) => {
  const line = element("p", "outcome", "")
  line.append(element("b", `status s${String(status)[0]}`, status), ` ${facts.join(" · ")}`)
  return line
}

/** The requests of forms whose answers have not ended; the next request of a form aborts the last one. */
const sent = new WeakMap()

/** Sends the request of a form and shows its answer. */
export const send = async (form) => {
  stored((storage) => storage.setItem(keyName, keyOf(form).value))
  const output = form.querySelector("output")
  const { init, url } = requestOf(form)
  const abort = new AbortController()
  sent.get(form)?.abort()
  sent.set(form, abort)
  output.replaceChildren(element("p", "pending", "Sending …"))
  const begin = performance.now()
  try {
    const response = await fetch(url, { ...init, signal: abort.signal })
    const asked = `${init.method} ${url}`
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
      output.replaceChildren(outcome(response.status, asked))
      return await follow(response, output, () => abort.abort())
    }
    const text = await response.text()
    const facts = [
      `${Math.round(performance.now() - begin)} ms`,
      `${text.length.toLocaleString("en")} characters`,
      asked
    ]
    output.replaceChildren(outcome(response.status, ...facts))
    if (text !== "") output.append(element("pre", "", pretty(text)))
  } catch (error) {
    if (!abort.signal.aborted) output.replaceChildren(element("p", "outcome", `The request failed: ${error.message}`))
  }
}

/** Fills in the key of the last request, when a form is opened. */
export const prepare = (form) => {
  const key = keyOf(form)
  if (key.value === "") key.value = stored((storage) => storage.getItem(keyName)) ?? ""
}
