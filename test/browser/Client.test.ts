import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { build } from "rolldown"
import * as Service from "../support/Service.ts"
import { launch, waitMillis } from "./Browser.ts"

/** Forwards a request of the page to the service, with the key that the page must not have. */
const forward = async ({ key, url }: Service.Service, request: IncomingMessage, response: ServerResponse) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = new Headers({ authorization: key })
  for (const name of ["content-type", "idempotency-key", "if-match"]) {
    const value = request.headers[name]
    if (typeof value === "string") headers.set(name, value)
  }
  const answer = await fetch(`${url}${request.url}`, {
    method: request.method ?? "GET",
    headers,
    body: chunks.length === 0 ? null : Buffer.concat(chunks)
  })
  response.writeHead(answer.status, { "content-type": "application/json", etag: answer.headers.get("etag") ?? "" })
  response.end(await answer.text())
}

/** A module of the sources as the package of the client has it: one file without imports. */
const bundled = async (input: string) => {
  const { output } = await build({ input, platform: "neutral", write: false, logLevel: "warn" })
  return output[0].code
}

/** What a page does with the client, from a list of locations to an upload of more than one part. */
const program = `
import { createClient, WaypostError } from "/client.js"
const client = createClient({ url: location.origin })
const log = []
try {
  const { uuid } = await client.locations.create({ name: "Bakkerij De Vries", identifier: "UTR-001" })
  await client.locations.update(uuid, { address: { city: "Utrecht" } }, { ifMatch: (await client.locations.get(uuid).result()).etag })
  for await (const { address, name } of client.locations.all({ filter: { name: { contains: "Vries" } } })) log.push(name, address.city)
  const { error } = await client.locations.create({ name: "Again", identifier: "UTR-001" }).result()
  log.push(error instanceof WaypostError, error._tag)
  const file = new File([new Uint8Array(9_000_000).fill(65)], "film.txt", { type: "text/plain" })
  const sizes = []
  let resume
  const onStart = (uuid) => (resume = uuid)
  const asset = await client.assets.upload(file, { onStart, onProgress: ({ sent }) => sizes.push(sent) })
  log.push((await client.assets.upload(file, { resume })).uuid === asset.uuid)
  log.push(sizes.length, (await client.assets.get(asset.uuid)).fileSize)
  async function* chunks() {
    const chunk = new Uint8Array(3)
    for (const letter of "ab") yield chunk.fill(letter.charCodeAt(0))
  }
  const generated = await client.assets.upload(chunks(), { fileName: "chunks.txt" })
  const { fileSize, urls } = await client.assets.get(generated.uuid)
  log.push(fileSize, await (await fetch(urls.original)).text())
} catch (error) {
  log.push(String(error))
}
document.title = JSON.stringify(log)
`

describe("the client in a browser", () => {
  it("a page whose server adds the key writes, lists all, reads an error by its tag, and uploads a file", async () => {
    await using stack = new AsyncDisposableStack()
    const client = await bundled("src/client/promise/PromiseClient.ts")
    const service = stack.use(await Service.start())
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/v1/") === true) return void forward(service, request, response)
      const isClient = request.url === "/client.js"
      response.setHeader("content-type", isClient ? "text/javascript" : "text/html")
      response.end(
        isClient ? client : `<!doctype html><link rel="icon" href="data:,"><script type="module">${program}</script>`
      )
    }).listen(0, "127.0.0.1")
    stack.defer(() => void server.close())
    await once(server, "listening")
    const address = server.address()
    const origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    const browser = await launch()
    stack.defer(() => browser.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(waitMillis)
    await page.goto(origin)
    await page.waitForFunction("document.title !== ''")
    assert.deepStrictEqual(JSON.parse(await page.title()), [
      "Bakkerij De Vries",
      "Utrecht",
      true,
      "DuplicateIdentifierError",
      true,
      2,
      9_000_000,
      6,
      "aaabbb"
    ])
  })
})
