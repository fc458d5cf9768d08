import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { download } from "../support/requests/FileRequests.ts"
import {
  begin,
  complete,
  filesBelow,
  initialize,
  objectPath,
  put,
  putPart
} from "../support/requests/UploadRequests.ts"
import { report } from "../support/proofs/Figures.ts"
import * as TestServer from "../support/TestServer.ts"

const marker = "waypost-canary-9d21"

const words = (text: string) => text.trim().split(/\s+/)

/** Spellings of a step to the parent folder. */
const up = [
  ...words(String.raw`../ ..\ ..%2f ..%5c %2e%2e/ %2e%2e%2f %252e%252e%252f ..%c0%af ..%ef%bc%8f ....// ..;/`),
  ..."\u2215\u2044\uff0f\u29f8".split("").map((slash) => `..${slash}`)
]
const roots = words(
  String.raw`/ \ // \\host\ C:\ C:/ file:///  ~/ ~root/ $HOME/ $\{TMPDIR}/ /proc/self/ /dev/fd/ ./ .\ a/../ a\..\ `
)
/** Sequences that end a name or have a special meaning in a shell, a URL, a header or a file system. */
const ends = [
  ...words(
    String.raw`%00 %00.png . ::$DATA :stream / \ /. /.. ? # * | < > " ' $(id) ;id && |id %0a {a,b} [a] %0d%0aX-A:b`
  ),
  ..."\0\n\r\t\u001b\u007f\u0085\u00a0\u200b\u202e\u2028\ufeff\ud800\u0301".split("")
]
const devices = words("CON NUL PRN AUX COM1 LPT1 CLOCK$ CONIN$")
const special = words(
  `-rf --help - @file ! . .. ... .htaccess .env .git key objects uploads node_modules package.json __proto__ constructor
   null undefined NaN 0 true \u00e9 \u212b \ufb01 \u0130 \u1e9e 日本語 עברית 👩‍👩‍👧‍👦`
)

/** Names that have caused path traversal or injection in other programs. */
const names = [
  ...[1, 3, 9].flatMap((steps) => up.map((step) => `${step.repeat(steps)}${marker}`)),
  ...up.map((step) => `photo${step}${marker}.png`),
  ...roots.map((root) => `${root}${marker}`),
  ...ends.flatMap((end) => [`${marker}${end}`, `${marker}${end}.png`]),
  ...devices.flatMap((device) => [device, `${device.toLowerCase()}.txt`]),
  ...special,
  ...[255, 256, 400, 5000].map((length) => "a".repeat(length))
]

/** An ancestor of the data folder, in which no other file may be created. */
const around = mkdtempSync(join(tmpdir(), "waypost-around-"))
const data = join(around, "a", "b", "c", "data")
const remove = Layer.effectDiscard(
  Effect.addFinalizer(() => Effect.sync(() => rmSync(around, { recursive: true, force: true })))
)

/** Files in that folder, except those with generated names. */
const unexpectedFiles = () =>
  filesBelow(around).filter((path) => {
    const below = "a/b/c/data/files/"
    return !(path.startsWith(below) && objectPath.test(path.slice(below.length)))
  })

layer(TestServer.layer({ DATA_DIR: data }).pipe(Layer.provideMerge(remove)), { excludeTestServices: true })(
  "file names",
  (it) => {
    it.effect("file names of clients are never used on disk, and no file is created outside the folder", (ctx) =>
      Effect.gen(function* () {
        const content = (name: string) => Buffer.from(`${marker} ${name.toWellFormed()}`)
        const answers = yield* Effect.forEach(
          names,
          Effect.fnUntraced(function* (fileName) {
            const bytes = content(fileName)
            const { body, status, text } = yield* initialize({ fileName, fileSize: bytes.length })
            if (status !== 201) {
              assert.deepStrictEqual(
                [status, body._tag],
                [400, "InvalidRequestError"],
                `${JSON.stringify(fileName)} ${text}`
              )
              return "rejected"
            }
            const part = yield* putPart(body.data, 1, bytes)
            const completed = yield* complete(body.data.uuid, [part])
            assert.strictEqual(completed.status, 200, `${JSON.stringify(fileName)} ${completed.text}`)
            const read = yield* download(completed.body.data.url)
            assert.strictEqual(read.text, bytes.toString())
            const disposition = read.headers.get("content-disposition")!
            // A client that trusts this header must be safe, too.
            assert.match(disposition, /^attachment; filename/, fileName)
            // oxlint-disable-next-line no-control-regex -- the characters that must not occur
            assert.notMatch(disposition, /[\u0000-\u001f\u007f]|filename="[^"]*[/\\](?!")/, fileName)
            return "stored"
          }),
          { concurrency: 4 }
        )
        const stored = answers.filter((answer) => answer === "stored").length
        const unexpected = unexpectedFiles()
        yield* Effect.promise(() =>
          report(ctx, {
            names: names.length,
            stored,
            rejected: names.length - stored,
            "other names on disk": unexpected.length
          })
        )
        assert.isAtLeast(names.length, 200)
        assert.isAbove(stored, 50)
        assert.isAbove(names.length - stored, 50)
        assert.deepStrictEqual(unexpected, [])
        assert.isAtLeast(filesBelow(around).length, stored)
        const places = [
          process.cwd(),
          tmpdir(),
          "/",
          process.env["HOME"] ?? "/",
          join(data, "files"),
          join(data, "files", "objects")
        ]
        const decoded = (name: string) =>
          /%(?![0-9a-f]{2})|%[c-f]/i.test(name) ? [name] : [name, decodeURIComponent(name)]
        const escaped = names
          .flatMap(decoded)
          .filter((name) => name.includes(marker) && !name.includes("\0"))
          .flatMap((name) => places.map((place) => resolve(place, name)))
          .filter((path) => path.includes(marker) && existsSync(path))
        assert.deepStrictEqual(escaped, [])
      })
    )

    it.effect("path traversal in the URL of a part or a file is rejected", () =>
      Effect.gen(function* () {
        const session = yield* begin(3)
        const { pathname, search } = new URL(session.parts[0]!.url)
        const [, , id, number] = pathname.split("/") as [string, string, string, string]
        const paths = [...up, "/", "%2f", "%00"].flatMap((step) => {
          const steps = encodeURIComponent(step)
          return [
            `/uploads/${steps}${id}/${number}`,
            `/uploads/${id}/${steps}${number}`,
            `/uploads/${id}${steps}/${number}`
          ]
        })
        for (const path of paths) {
          const { status } = yield* put(`http://waypost.test${path}${search}`, Buffer.from("xyz"))
          assert.include([400, 403, 404], status, path)
        }
        for (const step of up) {
          const steps = encodeURIComponent(step.repeat(6))
          for (const path of [
            `/files/${steps}etc/passwd`,
            `/files/${id}/${steps}etc%2fpasswd`,
            `/files/${steps}/${marker}`
          ]) {
            const { status, text } = yield* download(`http://waypost.test${path}?expires=9999999999&signature=x`)
            assert.include([400, 403, 404], status, path)
            assert.notInclude(text, "root:")
          }
        }
        assert.deepStrictEqual(unexpectedFiles(), [`a/b/c/data/files/uploads/${id}/key`])
      })
    )
  }
)
