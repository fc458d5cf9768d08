/** The key stays in this tab, until the tab is closed. */
const keyName = "waypost-key"

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
  const headers = { authorization: form.querySelector("[data-key]").value }
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

const send = async (form) => {
  const output = form.querySelector("output")
  const { init, url } = requestOf(form)
  output.replaceChildren(element("p", "pending", "Sending …"))
  const begin = performance.now()
  try {
    const response = await fetch(url, init)
    const text = await response.text()
    const line = element("p", "outcome", "")
    line.append(
      element("b", `status s${String(response.status)[0]}`, response.status),
      ` ${Math.round(performance.now() - begin)} ms · ${text.length.toLocaleString("en")} characters · ${init.method} ${url}`
    )
    output.replaceChildren(line)
    if (text !== "") output.append(element("pre", "", pretty(text)))
  } catch (error) {
    output.replaceChildren(element("p", "outcome", `The request failed: ${error.message}`))
  }
}

/** Makes a form work when it is opened for the first time. */
export const prepare = (form) => {
  const key = form.querySelector("[data-key]")
  if (key.value === "") key.value = sessionStorage.getItem(keyName) ?? ""
  if (form.dataset.isReady !== undefined) return
  form.dataset.isReady = ""
  key.addEventListener("input", () => sessionStorage.setItem(keyName, key.value))
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    await send(form)
  })
}
