import { assert, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import sharp from "sharp"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, download, upload } from "../../support/requests/FileRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

const picture = Effect.promise(() =>
  sharp({ create: { width: 90, height: 60, channels: 3, background: "#c63" } })
    .png()
    .toBuffer()
)

const live = { excludeTestServices: true } as const

layer(TestServer.layer().pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))), live)(
  "Files",
  (it) => {
    it.effect("an original is served without a key, byte for byte, and cacheable until its URL changes", () =>
      Effect.gen(function* () {
        const bytes = yield* picture
        const { url } = yield* upload("Zomer & actie.png", bytes)
        const { bytes: read, headers, status } = yield* download(url)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(read, new Uint8Array(bytes))
        assert.strictEqual(headers.get("content-type"), "image/png")
        assert.strictEqual(headers.get("content-length"), String(bytes.length))
        assert.strictEqual(headers.get("content-disposition"), `inline; filename="Zomer & actie.png"`)
        assert.strictEqual(headers.get("content-security-policy"), sandbox)
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("accept-ranges"), "bytes")
        assert.strictEqual(headers.get("access-control-allow-origin"), "*")
        const [, seconds, stale] = /^public, max-age=(\d+), s-maxage=3600, stale-if-error=(\d+), immutable$/.exec(
          headers.get("cache-control")!
        )!
        assert.strictEqual(Number(stale), Number(seconds) - 3600)
        assert.isNull(headers.get("vary"))
        assert.isAtLeast(Number(seconds), 7 * 86_400)
        assert.isAtMost(Number(seconds), 8 * 86_400)
      })
    )

    it.effect("a range returns exactly its bytes, too long a suffix all, and one beyond the end is a 416", () =>
      Effect.gen(function* () {
        const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)
        const { url } = yield* upload("data.bin", bytes)
        for (const [range, start, end] of [
          ["bytes=0-0", 0, 0],
          ["bytes=10-19", 10, 19],
          ["bytes=990-", 990, 999],
          ["bytes=-5", 995, 999],
          ["bytes=-1000", 0, 999],
          ["bytes=-5000", 0, 999],
          ["bytes=900-5000", 900, 999]
        ] as const) {
          const part = yield* download(url, { range })
          assert.strictEqual(part.status, 206, range)
          assert.strictEqual(part.headers.get("content-range"), `bytes ${start}-${end}/1000`)
          assert.strictEqual(part.headers.get("content-length"), String(end - start + 1))
          assert.deepStrictEqual(part.bytes, bytes.slice(start, end + 1))
        }
        for (const range of ["bytes=1000-", "bytes=5000-6000", "bytes=-0"]) {
          const beyond = yield* download(url, { range })
          assert.strictEqual(beyond.status, 416, range)
          assert.strictEqual(beyond.headers.get("content-range"), "bytes */1000")
          assert.strictEqual(JSON.parse(beyond.text)._tag, "RangeNotSatisfiableError")
        }
        for (const range of [
          "bytes=0-1,5-6",
          "bytes=0-1,-5000",
          "lines=1-2",
          "lines=5000-6000",
          "bytes=9-1",
          "nonsense"
        ]) {
          const whole = yield* download(url, { range })
          assert.deepStrictEqual([whole.status, whole.bytes.length], [200, 1000], range)
        }
      })
    )

    it.effect(
      "If-None-Match with the current ETag is a 304, and If-Range with another one returns the whole file",
      () =>
        Effect.gen(function* () {
          const { url } = yield* upload("same.bin", bytesOf("the same bytes"))
          const etag = (yield* download(url)).headers.get("etag")!
          for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
            const known = yield* download(url, { "if-none-match": tag })
            assert.deepStrictEqual([known.status, known.bytes.length, known.headers.get("etag")], [304, 0, etag])
          }
          assert.strictEqual((yield* download(url, { "if-none-match": `"other"` })).status, 200)
          assert.strictEqual((yield* download(url, { range: "bytes=0-2", "if-range": etag })).status, 206)
          assert.strictEqual((yield* download(url, { range: "bytes=0-2", "if-range": `"other"` })).status, 200)
        })
    )

    it.effect("HEAD of a file returns the headers of GET without a body, and ignores Range", () =>
      Effect.gen(function* () {
        const { url } = yield* upload("head.bin", bytesOf("twelve bytes"))
        for (const range of [undefined, "bytes=0-1", "bytes=50-"]) {
          const head = yield* download(url, range === undefined ? {} : { range }, "HEAD")
          assert.deepStrictEqual([head.status, head.bytes.length, head.headers.get("content-length")], [200, 0, "12"])
          assert.isNull(head.headers.get("content-range"))
        }
      })
    )

    it.effect("a URL changed in any part is a 403, and so is an expired one", () =>
      Effect.gen(function* () {
        const { url } = yield* upload("secret.txt", bytesOf("secret"))
        const other = yield* upload("other.txt", bytesOf("other"))
        const address = new URL(url)
        const changed = (change: (url: URL) => void) => {
          const copy = new URL(url)
          change(copy)
          return copy.href
        }
        const uuidOf = (href: string) => new URL(href).pathname.split("/")[2]!
        const flipped = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1)
        for (const href of [
          changed((copy) => copy.searchParams.set("signature", flipped(address.searchParams.get("signature")!))),
          changed((copy) => copy.searchParams.set("expires", String(Number(address.searchParams.get("expires")) + 1))),
          changed((copy) => copy.searchParams.delete("signature")),
          changed((copy) => copy.searchParams.delete("expires")),
          changed((copy) => copy.searchParams.set("expires", `-${address.searchParams.get("expires")}`)),
          changed((copy) => copy.searchParams.set("expires", "9".repeat(13))),
          changed((copy) => (copy.search = "")),
          changed((copy) => (copy.pathname = copy.pathname.replace(uuidOf(url), uuidOf(other.url)))),
          changed((copy) => (copy.pathname = copy.pathname.replace("secret.txt", "preview_secret.txt"))),
          changed((copy) => (copy.pathname = copy.pathname.replace("secret.txt", "x")))
        ]) {
          const rejected = yield* download(href)
          assert.strictEqual(rejected.status, 403, href)
          assert.strictEqual(JSON.parse(rejected.text)._tag, "InvalidAddressError")
          assert.notInclude(rejected.text, "secret")
          assert.strictEqual(rejected.headers.get("access-control-allow-origin"), "*")
        }
        // A valid signature for an expiry in the past.
        const { pooled } = yield* Sql
        const expires = 1_700_000_000
        const [row] = yield* pooled.unsafe<{ readonly signature: string }>("select waypost_sign($1) as signature", [
          `${uuidOf(url)}/secret.txt?${expires}`
        ])
        const late = yield* download(
          changed((copy) => {
            copy.searchParams.set("expires", String(expires))
            copy.searchParams.set("signature", row!.signature)
          })
        )
        assert.strictEqual(late.status, 403)
        assert.match(JSON.parse(late.text).message, /expired/)
      })
    )

    it.effect("a path that is not a file URL is a 404", () =>
      Effect.gen(function* () {
        for (const path of ["/files/x/y", "/files/..%2f..%2fetc/passwd"]) {
          assert.strictEqual((yield* download(path)).status, 404, path)
        }
      })
    )

    it.effect("content that a browser could run is served as a download only", () =>
      Effect.gen(function* () {
        const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
        for (const [name, content, declared] of [
          ["logo.svg", svg, "image/svg+xml"],
          ["page.txt", "<html><script>alert(1)</script></html>", "text/plain"],
          ["fake.png", "<html><script>alert(1)</script></html>", "image/png"],
          ["fake.pdf", "<html><script>alert(1)</script></html>", "application/pdf"],
          ["data.json", `{"a":1}`, "application/json"]
        ] as const) {
          const { url } = yield* upload(name, bytesOf(content), declared)
          const { headers, text } = yield* download(url)
          assert.strictEqual(text, content)
          assert.match(headers.get("content-disposition")!, /^attachment; /, name)
          assert.strictEqual(headers.get("content-security-policy"), sandbox)
          assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
          assert.notMatch(headers.get("content-type")!, /html|png|pdf/, name)
        }
      })
    )

    it.effect("file names in any language and length are served unchanged, in URL and Content-Disposition", () =>
      Effect.gen(function* () {
        for (const name of [
          "Crème brûlée €5.txt",
          "日本語のファイル.txt",
          `${"é".repeat(251)}.txt`,
          `a"b;c%41.txt`,
          "thumbnail_x.txt"
        ]) {
          const { url } = yield* upload(name, bytesOf(name))
          assert.isAtMost(new URL(url).pathname.length, 2048)
          const { headers, status, text } = yield* download(url)
          assert.deepStrictEqual([status, text], [200, name])
          const sent = headers.get("content-disposition")!
          const extended = /filename\*=UTF-8''([^;]+)/.exec(sent)?.[1]
          const plain =
            /filename="((?:[^"\\]|\\.)*)"/.exec(sent)?.[1]?.replaceAll(/\\(.)/g, "$1") ??
            /filename=([^;]+)/.exec(sent)?.[1]
          assert.strictEqual(extended === undefined ? plain : decodeURIComponent(extended), name)
        }
      })
    )

    it.effect("the URL of a file is the same all day, and the CDN URL uses the configured origin", () =>
      Effect.gen(function* () {
        const { urls, uuid } = yield* createAsset("day.txt", bytesOf("day"))
        const again = yield* createAsset("other.txt", bytesOf("other"))
        assert.notStrictEqual(again.uuid, uuid)
        assert.strictEqual(urls.cdnUrl, urls.original)
        assert.strictEqual(
          new URL(urls.thumbnail).searchParams.get("expires"),
          new URL(urls.original).searchParams.get("expires")
        )
        const midnight = Number(new URL(urls.original).searchParams.get("expires"))
        assert.strictEqual(midnight % 86_400, 0)
      })
    )
  }
)
