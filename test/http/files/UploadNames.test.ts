import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Settings } from "../../../src/settings/Config.ts"
import { join } from "node:path"
import { statSync } from "node:fs"
import * as TestServer from "../../support/TestServer.ts"
import { download } from "../../support/requests/FileRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import { filesBelow, initialize, objectPath, upload } from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Unusual but valid file names. */
const allowed: ReadonlyArray<string> = [
  ["CON", "NUL", "PRN.txt", "COM1.pdf", "aux", "LPT9.tar.gz", "desktop.ini", "Thumbs.db", ".htaccess", ".bashrc"],
  ["...", "....", ".a", "a.", "a..b", "..a", "~", "~root", "-rf", "--help", "key", "tmp", "a,b", "a'b", 'a"b', "a`b"],
  ["a b.txt", "a  b", "a\u00a0b", "a\u3000b", "a;b.txt", "a&b=c.txt", "a?b", "a#b.txt", "a%b", "a%00b", "a%2fb"],
  ["%2e%2e%2f", "%2E%2E", "a+b", "a*b", "a|b", "a<b>c", "a:b", "C:file.txt", "file.txt::$DATA", "$(id)", "${HOME}"],
  ["{{7*7}}", "' or 1=1 --", "a\u200cb", "\u05e9\u05dc\u05d5\u05dd.txt", "\u0645\u0644\u0641.pdf", "a\u200db"],
  ["日本語.txt", "файл.doc", "Crème brûlée.jpg", "ﬁle", "👩‍👩‍👧‍👦.png", "🇳🇱.pdf", "😀".repeat(255), "é".repeat(255)],
  ["a".repeat(255), `${"a".repeat(251)}.txt`, "thumbnail_x.png", "preview_preview_x.png", "index", "null", "undefined"],
  ["constructor", "__proto__", "0", "-0", "1e999", "a\u2028b", "a\ufffdb", "a\u0301\u0302\u0303"]
].flat()

const separators = [
  "/",
  "a/b",
  "/etc/passwd",
  "../../x",
  "..\\..\\x",
  "a\\b",
  "\\\\server\\share",
  "..",
  ".",
  "a/",
  " .. "
]
const controls = ["a\0b", "a\nb", "a\rb", "a\tb", "a\u001bb", "a\u007fb", "a\u0085b", "\ud800", "a\udc00b"]
/** Marks that change the direction of the text, and invisible characters. */
const marks = ["\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"].concat(
  Array.from("\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff")
)

const invalidNames = {
  invalidCharacters: [separators, controls, marks.map((mark) => `photo${mark}gpj.exe.txt`)].flat(),
  tooShort: ["", "   "],
  tooLong: ["a".repeat(256), "😀".repeat(256)]
}

layer(TestServer.layer(), { excludeTestServices: true })("File names of uploads", (it) => {
  it.effect("unusual file names are kept, read back, and never used as a path", () =>
    Effect.gen(function* () {
      const { DATA_DIR } = yield* Settings
      yield* Effect.forEach(
        allowed,
        Effect.fnUntraced(function* (fileName) {
          const { fileUuid, url } = yield* upload(bytesOf(`This is ${fileName}`), { fileName })
          const read = yield* download(url)
          assert.deepStrictEqual([read.status, read.text], [200, `This is ${fileName}`], fileName)
          const asset = yield* send("POST", "/v1/assets", { body: { fileUuid } })
          assert.strictEqual(asset.status, 201, `${fileName} ${asset.text}`)
          const { data } = (yield* send("GET", `/v1/assets/${asset.body.data.uuid}`)).body
          assert.strictEqual(data.fileNameOriginal, fileName.normalize("NFC"))
          assert.strictEqual((yield* download(data.urls.original)).status, 200, fileName)
          assert.strictEqual((yield* download(data.urls.thumbnail)).status, 200, fileName)
        }),
        { concurrency: 4, discard: true }
      )
      const files = join(DATA_DIR, "files")
      const paths = filesBelow(files)
      assert.isAtLeast(paths.length, allowed.length)
      for (const path of paths) {
        assert.match(path, objectPath)
        assert.strictEqual(statSync(join(files, path)).mode & 0o777, 0o600, path)
      }
      assert.deepStrictEqual(
        filesBelow(DATA_DIR).filter((path) => !path.startsWith("files/")),
        []
      )
    })
  )

  it.effect("file names are trimmed and composed", () =>
    Effect.gen(function* () {
      const begun = yield* initialize({ fileName: "  Cafe\u0301.txt ", fileSize: 3 })
      const { data } = (yield* send("GET", `/v1/uploads/${begun.body.data.uuid}`)).body
      assert.strictEqual(data.fileName, "Caf\u00e9.txt")
    })
  )

  it.effect("misleading or unsafe file names are rejected", () =>
    Effect.gen(function* () {
      for (const [code, names] of Object.entries(invalidNames)) {
        for (const fileName of names) {
          const { body, status, text } = yield* initialize({ fileName, fileSize: 3 })
          const label = `${JSON.stringify(fileName)} ${text}`
          assert.strictEqual(status, 400, label)
          assert.deepInclude(body.issues[0], { in: "body", path: "fileName", code }, label)
        }
      }
    })
  )
})
