import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import { dirname } from "node:path"
import { gzipSync } from "node:zlib"
import { NotRenderableError, RenderFailedError, Renderer } from "../../src/media/Renderer.ts"
import { quarters, svg } from "../support/MediaFixtures.ts"
import { assertColor, colorAt, file, preview, render, rendererLayer } from "./Rendering.ts"

/** A local server that counts connections. */
const listener = Effect.acquireRelease(
  Effect.promise(async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" ? address!.port : 0
    return { server, port, connections: () => connections }
  }),
  ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
)

const whole = 'x="0" y="0" width="400" height="300"'
const red = `<rect xmlns="http://www.w3.org/2000/svg" ${whole} fill="#f00"/>`

/** Drawings with every kind of external reference; the referenced files are red. */
const references = (folder: string, port: number): Readonly<Record<string, Uint8Array>> => {
  const addresses = [`file://${folder}/red.png`, "red.png", "./red.svg", `http://127.0.0.1:${port}/red.png`]
  const images = addresses.map(
    (address) => `<image ${whole} xlink:href="${address}"/><image ${whole} href="${address}"/>`
  )
  const uses = addresses.map((address) => `<use xlink:href="${address}#all"/>`)
  const paints = addresses.map((address) => `<rect ${whole} fill="url(${address}#all) none"/>`)
  const filters = addresses.map(
    (address) =>
      `<filter id="f"><feImage xlink:href="${address}"/></filter><rect ${whole} fill="none" filter="url(#f)"/>`
  )
  const sheets = addresses.map(
    (address) =>
      `<style>@import url("${address}"); @import "red.css";</style><path class="a" fill="none" d="M0 0H400V300H0Z"/>`
  )
  const include = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
  const includes = [...addresses, "red.txt"].flatMap((address) => [
    `<xi:include ${include} href="${address}" parse="xml"/>`,
    `<xi:include ${include} href="${address}" parse="text"/>`
  ])
  const nested = Buffer.from(svg(images.join(""))).toString("base64")
  const entity = (address: string) => `<!DOCTYPE svg [<!ENTITY all SYSTEM "${address}">]>`
  return {
    images: svg(images.join("")),
    uses: svg(uses.join("")),
    paints: svg(paints.join("")),
    filters: svg(filters.join("")),
    "style sheets": svg(sheets.join(""), undefined, '<?xml-stylesheet href="red.css"?>'),
    inclusions: svg(includes.join("")),
    "a drawing within": svg(`<image ${whole} href="data:image/svg+xml;base64,${nested}"/>`),
    "an entity of a file": svg("&all;", undefined, entity(`file://${folder}/red.txt`)),
    "an entity of the network": svg("&all;", undefined, entity(`http://127.0.0.1:${port}/red.txt`)),
    "an outer definition": svg(
      "&all;",
      undefined,
      `<!DOCTYPE svg SYSTEM "http://127.0.0.1:${port}/a.dtd" [<!ENTITY % all SYSTEM "file://${folder}/red.dtd"> %all;]>`
    ),
    "scripts and pages": svg(
      `<script>document.documentElement.innerHTML=''</script><foreignObject ${whole}><body xmlns="http://www.w3.org/1999/xhtml">` +
        `<img src="${addresses[3]}"/></body></foreignObject>`
    )
  }
}

layer(rendererLayer(), { excludeTestServices: true })("rendering of drawings (SVG)", (it) => {
  it.effect("an SVG does not load external files or URLs", () =>
    Effect.gen(function* () {
      const { connections, port } = yield* listener
      const picture = yield* Effect.promise(() =>
        quarters().extract({ left: 0, top: 0, width: 400, height: 300 }).png().toBuffer()
      )
      const others = {
        "red.png": picture,
        "red.svg": svg(`<g id="all">${red}</g>`),
        "red.txt": Buffer.from(red),
        "red.css": Buffer.from(".a { fill: #f00 !important }"),
        "red.dtd": Buffer.from(`<!ENTITY all '${red}'>`)
      }
      const renderer = yield* Renderer
      const place = yield* file(Buffer.alloc(0), others)
      for (const [title, drawing] of Object.entries(references(dirname(place), port))) {
        // The referenced files are in the folder of the drawing, so a loaded one would be visible.
        const path = yield* file(drawing, others)
        const source = { path, mimeType: "image/svg+xml" }
        const images = yield* renderer.render(source, preview).pipe(
          Effect.map(({ images }) => images),
          Effect.catchTag("NotRenderableError", () => Effect.succeed([]))
        )
        for (const image of images) assert.strictEqual((yield* colorAt(image, 0.5, 0.5))[3], 0, title)
      }
      assert.strictEqual(connections(), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("an SVG renders embedded pictures", () =>
    Effect.gen(function* () {
      const picture = yield* Effect.promise(() => quarters(40, 30).png().toBuffer())
      const drawing = svg(`<image ${whole} href="data:image/png;base64,${picture.toString("base64")}"/>`)
      const { images } = yield* render(drawing, "image/svg+xml", [{ size: "preview", format: "jpeg" }])
      assertColor(yield* colorAt(images[0]!, 0.2, 0.2), [255, 0, 0])
      assertColor(yield* colorAt(images[0]!, 0.8, 0.8), [0, 0, 255])
    })
  )

  const laughs = Array.from({ length: 9 }, (_, index) => `<!ENTITY a${index + 1} "${`&a${index};`.repeat(10)}">`).join(
    ""
  )
  const uses = Array.from(
    { length: 30 },
    (_, index) => `<g id="g${index + 1}">${`<use href="#g${index}"/>`.repeat(9)}</g>`
  )
  const invalid = {
    "a billion laughs": svg("<text>&a9;</text>", undefined, `<!DOCTYPE svg [<!ENTITY a0 "haha">${laughs}]>`),
    "an enormous canvas": svg(red, 'width="9.5e15" height="9.5e15"'),
    "an extremely wide canvas": svg(red, 'width="1000000" height="1"'),
    "an enormous viewBox": svg(red, 'viewBox="0 0 9.5e15 9.5e15"'),
    "no canvas": svg("", ""),
    "100,000 levels": svg("<g>".repeat(100_000) + "</g>".repeat(100_000)),
    "gzip compression, which may expand to gigabytes": gzipSync(svg(red)),
    "9 MiB": svg(`<path d="${"M0 0".repeat(2_400_000)}"/>`),
    "truncated content": svg(red).subarray(0, 120),
    "another root element": Buffer.from('<html xmlns="http://www.w3.org/1999/xhtml"><body/></html>')
  }
  for (const [title, drawing] of Object.entries(invalid))
    it.effect(`an SVG with ${title} is rejected`, () =>
      Effect.gen(function* () {
        assert.instanceOf(yield* Effect.flip(render(drawing, "image/svg+xml")), NotRenderableError)
      })
    )

  it.effect("an SVG with 10^30 nested copies fails in bounded time", () =>
    Effect.gen(function* () {
      const copies = svg(`<g id="g0"><path d="M0 0H9V9Z"/></g>${uses.join("")}`)
      const error = yield* Effect.flip(render(copies, "image/svg+xml"))
      assert.isTrue(error instanceof NotRenderableError || error instanceof RenderFailedError, String(error))
    }).pipe(Effect.provide(rendererLayer({ timeLimit: "1 second" })))
  )

  it.effect("an SVG with a large canvas is rendered at the image size", () =>
    Effect.gen(function* () {
      const { height, images, width } = yield* render(
        svg(red, 'width="20000" height="15000" viewBox="0 0 400 300"'),
        "image/svg+xml"
      )
      assert.deepStrictEqual([width, height], [20_000, 15_000])
      assertColor(yield* colorAt(images[0]!, 0.9, 0.9), [255, 0, 0])
    })
  )
})
