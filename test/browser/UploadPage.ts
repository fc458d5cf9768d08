/**
 * A page to upload a picture. It begins and completes uploads through its own backend, and sends the bytes directly to the
 * service: parts of 5 MiB and the remainder in the last part, as the client of the customer does.
 */
export const uploadPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Add a picture</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light; --ink: #1d2433; --soft: #657086; --line: #dfe4ec; --accent: #2f5bea; --good: #14794a; --bad: #b3261e }
  * { box-sizing: border-box }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; color: var(--ink);
    background: linear-gradient(160deg, #eef2fb, #f8f5f0); font: 16px/1.5 "Open Sans", system-ui, sans-serif }
  main { width: min(100%, 480px); padding: 32px; border-radius: 20px; background: #fff; box-shadow: 0 20px 60px -20px #1d243340 }
  h1 { margin: 0 0 4px; font-size: 24px; line-height: 1.25 }
  p { margin: 0; color: var(--soft) }
  label { display: block; margin-top: 24px; padding: 32px 16px; border: 2px dashed var(--line); border-radius: 14px; text-align: center; cursor: pointer }
  label:hover, label:focus-within { border-color: var(--accent); background: #f6f8ff }
  label strong { display: block; color: var(--accent) }
  label small { color: var(--soft) }
  input { position: absolute; opacity: 0; width: 1px; height: 1px }
  section { display: none; margin-top: 24px }
  progress { width: 100%; height: 10px; appearance: none; border: 0; border-radius: 5px; overflow: hidden; background: var(--line) }
  progress::-webkit-progress-bar { background: var(--line) }
  progress::-webkit-progress-value { background: var(--accent); border-radius: 5px; transition: width .2s }
  #status { margin-top: 8px; font-size: 14px }
  figure { display: none; margin: 24px 0 0; border: 1px solid var(--line); border-radius: 14px; overflow: hidden }
  figure img { display: block; width: 100%; max-height: 320px; object-fit: contain; background: #f3f4f7 }
  figcaption { display: flex; justify-content: space-between; gap: 16px; padding: 12px 16px; font-size: 14px }
  figcaption span:last-child { color: var(--soft); white-space: nowrap }
  [data-state=busy] section, [data-state=done] section, [data-state=failed] section { display: block }
  [data-state=busy] label { opacity: .5; pointer-events: none }
  [data-state=done] figure { display: block }
  [data-state=done] #status { color: var(--good) }
  [data-state=failed] #status { color: var(--bad) }
</style>
</head>
<body>
<main data-state="ready">
  <h1>Add a picture</h1>
  <p>It goes straight to the library, however large it is.</p>
  <label><strong>Choose a file</strong><small>PNG, JPEG, WebP or PDF, up to 5 GB</small><input type="file"></label>
  <section><progress value="0" max="1"></progress><p id="status" role="status"></p></section>
  <figure><img alt=""><figcaption><span id="name"></span><span id="size"></span></figcaption></figure>
</main>
<script type="module">
  const main = document.querySelector("main")
  const show = (state, text) => {
    main.dataset.state = state
    document.querySelector("#status").textContent = text
  }
  const ask = async (path, body) => {
    const response = await fetch(path, { method: "POST", body: JSON.stringify(body) })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.message)
    return answer.data
  }
  const partSize = 5 * 1024 * 1024
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1) + " MB"

  const upload = async (file) => {
    const bar = document.querySelector("progress")
    show("busy", "Preparing …")
    const { parts, uuid } = await ask("/begin", { fileName: file.name, contentType: file.type, fileSize: file.size })
    const sent = []
    for (const { partNumber, url } of parts) {
      show("busy", "Sending part " + partNumber + " of " + parts.length + " …")
      const start = (partNumber - 1) * partSize
      const body = file.slice(start, partNumber === parts.length ? file.size : start + partSize)
      const response = await fetch(url, { method: "PUT", body })
      const problem = await response.text()
      if (!response.ok) throw new Error(JSON.parse(problem).message)
      const eTag = response.headers.get("ETag")
      if (eTag === null) throw new Error("The page may not read the ETag")
      sent.push({ partNumber, eTag })
      bar.value = sent.length / parts.length
    }
    show("busy", "Almost there …")
    const asset = await ask("/complete", { uuid, parts: sent })
    const picture = document.querySelector("img")
    picture.alt = asset.translations[0].name
    picture.src = asset.urls.thumbnail
    await picture.decode()
    document.querySelector("#name").textContent = asset.fileNameOriginal
    document.querySelector("#size").textContent = megabytes(asset.fileSize)
    show("done", "Added to the library")
  }

  document.querySelector("input").addEventListener("change", ({ target }) =>
    upload(target.files[0]).catch((error) => show("failed", "Not added: " + error.message)))
</script>
</body>
</html>
`
