import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { download } from "../../support/requests/FileRequests.ts"
import type { Answer } from "../../support/requests/Requests.ts"
import { begin, complete, initialize, putPart, stored, upload } from "../../support/requests/UploadRequests.ts"

const assertNotAllowed = (answer: Answer, path: string, type: string, label: string) => {
  assert.strictEqual(answer.status, 400, label)
  assert.deepInclude(answer.body.issues[0], { in: "body", path, code: "notAllowed" }, label)
  assert.include(answer.body.message, type, label)
}

const padded = (...head: ReadonlyArray<number | string>) => {
  const bytes = Buffer.concat(head.map((piece) => Buffer.from(typeof piece === "string" ? piece : [piece])))
  return Buffer.concat([bytes, Buffer.alloc(2048 - bytes.length)])
}

/** The first bytes of executables. */
const programs = {
  "application/x-elf": padded(0x7f, "ELF", 2, 1, 1),
  "application/x-msdownload": padded("MZ", 0x90),
  "application/x-mach-binary": Buffer.concat([Buffer.from([0xcf, 0xfa, 0xed, 0xfe]), Buffer.alloc(2048)])
}

/** The beginning of a ZIP archive whose first entry says nothing of its kind. */
const zip = Buffer.concat([
  Buffer.from("504b030414000000000000000000000000008813000088130000", "hex"),
  Buffer.from([6, 0, 0, 0]),
  Buffer.from("_rels/"),
  Buffer.alloc(900)
])
const compound = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(2048)])

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

const typeOf = Effect.fnUntraced(function* (fileUuid: string) {
  const { pooled } = yield* Sql
  const rows = yield* pooled<{ readonly type: string }>`select mime_type as type from files where uuid = ${fileUuid}`
  return rows[0]!.type
})

layer(TestServer.layer(), { excludeTestServices: true })("Types of uploads", (it) => {
  it.effect(
    "a blocked type is rejected by the name, in any case, with dots and spaces after it and with any declared type",
    () =>
      Effect.gen(function* () {
        for (const [fileName, type] of [
          ["page.html", "text/html"],
          ["page.htm", "text/html"],
          ["PAGE.HTML", "text/html"],
          ["page.xhtml", "application/xhtml+xml"],
          ["script.js", "javascript"],
          ["script.mjs", "javascript"],
          ["photo.jpg.exe", "application/x-ms"],
          ["SETUP.EXE", "application/x-ms"],
          ["page.html.", "text/html"],
          ["page.html . ", "text/html"],
          ["page.xhtml.", "application/xhtml+xml"],
          ["library.dll", "application/x-ms"],
          ["run.bat", "application/x-ms"],
          ["setup.msi", "application/x-ms"],
          ["install.sh", "application/x-sh"],
          ["app.jar", "application/java-archive"],
          ["app.apk", "application/vnd.android.package-archive"]
        ] as const) {
          assertNotAllowed(yield* initialize({ fileName, fileSize: 3 }), "fileName", type, fileName)
          assertNotAllowed(
            yield* initialize({ fileName, fileSize: 3, contentType: "image/png" }),
            "fileName",
            type,
            fileName
          )
        }
      })
  )

  it.effect(
    "an executable is rejected by its extension, in any case, with dots before it and dots and spaces after it",
    () =>
      Effect.gen(function* () {
        const extensions = "exe hta php mht ps1 vbs cmd scr lnk wsf pif cjs bat com js mjs jar msi sh".split(" ")
        for (const extension of extensions) {
          for (const fileName of [
            `a.${extension}`,
            `a.jpg.${extension.toUpperCase()}`,
            `a.${extension}.`,
            `a..${extension}`,
            `.${extension}`
          ]) {
            const answer = yield* initialize({ fileName, fileSize: 3, contentType: "image/jpeg" })
            assertNotAllowed(answer, "fileName", "not accepted", fileName)
          }
        }
        for (const fileName of ["exe.jpg", "php.net.pdf", ".exe.txt", ".htaccess"])
          assert.strictEqual((yield* initialize({ fileName, fileSize: 3 })).status, 201, fileName)
      })
  )

  it.effect("a blocked declared type is rejected in any case and with any parameters", () =>
    Effect.gen(function* () {
      for (const contentType of ["text/html", "TEXT/HTML", "text/html; charset=utf-8", "application/x-msdownload"]) {
        const answer = yield* initialize({ fileName: "photo.jpg", fileSize: 3, contentType })
        assertNotAllowed(answer, "contentType", contentType.split(";")[0]!.toLowerCase(), contentType)
      }
    })
  )

  it.effect("blocked content is rejected by its bytes, and the bytes are deleted", () =>
    Effect.gen(function* () {
      const before = yield* stored
      for (const [type, bytes] of Object.entries(programs)) {
        const session = yield* begin(bytes.length, { fileName: "photo.jpg", contentType: "image/jpeg" })
        const part = yield* putPart(session, 1, bytes)
        assertNotAllowed(yield* complete(session.uuid, [part]), "parts", type, type)
        assert.strictEqual((yield* complete(session.uuid, [part])).status, 404)
        assert.deepStrictEqual(yield* stored, before, type)
      }
    })
  )

  it.effect("the type of a file is detected from its bytes, or else taken from its declaration", () =>
    Effect.gen(function* () {
      const text = Buffer.from("just words\n")
      for (const [fileName, contentType, bytes, mimeType] of [
        ["photo.jpg", "image/jpeg", png, "image/png"],
        ["photo.txt", undefined, png, "image/png"],
        ["photo", "application/octet-stream", png, "image/png"],
        ["words.txt", undefined, text, "text/plain"],
        ["words.csv", undefined, text, "text/csv"],
        ["words", "text/markdown; charset=utf-8", text, "text/markdown"],
        ["words", undefined, text, "application/octet-stream"],
        ["words.png", undefined, text, "application/octet-stream"],
        ["words.pdf", "application/pdf", text, "application/octet-stream"],
        ["countries.csv", "text/csv", Buffer.from("MZ;Mozambique"), "text/csv"],
        ["ministries.csv", "text/csv", Buffer.from(`MZ;${"a".repeat(59)}\r\n`), "text/csv"],
        ["prices.txt", undefined, Buffer.from("BMW prices"), "text/plain"],
        ["words.mp4", undefined, text, "application/octet-stream"]
      ] as const) {
        const { fileUuid, url } = yield* upload(bytes, {
          fileName,
          ...(contentType === undefined ? {} : { contentType })
        })
        assert.strictEqual(yield* typeOf(fileUuid), mimeType, `${fileName} ${contentType}`)
        const { headers } = yield* download(url)
        assert.strictEqual(headers.get("content-type")!.split(";")[0], mimeType)
      }
    })
  )

  it.effect("an Office document has its declared type if its first bytes are only those of a container", () =>
    Effect.gen(function* () {
      const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
      for (const [fileName, bytes, type] of [
        ["letter.docx", zip, word],
        ["letter.odt", zip, "application/vnd.oasis.opendocument.text"],
        ["macros.xlsm", zip, "application/vnd.ms-excel.sheet.macroenabled.12"],
        ["book.epub", zip, "application/epub+zip"],
        ["letter.doc", compound, "application/msword"],
        ["table.xls", compound, "application/vnd.ms-excel"],
        ["encrypted.docx", compound, word],
        ["archive.zip", zip, "application/zip"],
        ["letter.txt", zip, "application/zip"],
        ["letter.pdf", compound, "application/x-cfb"]
      ] as const) {
        const { fileUuid } = yield* upload(bytes, { fileName })
        assert.strictEqual(yield* typeOf(fileUuid), type, fileName)
      }
    })
  )
})

const configured = {
  UPLOAD_BLOCKED_TYPES: "image/*, application/zip",
  UPLOAD_BLOCKED_EXTENSIONS: ".Blend,fbx",
  UPLOAD_MAX_BYTES: "1000"
}

layer(TestServer.layer(configured), { excludeTestServices: true })("Types of uploads with configured limits", (it) => {
  it.effect("configured extensions are rejected, and others accepted", () =>
    Effect.gen(function* () {
      for (const fileName of ["a.blend", "a.FBX"])
        assertNotAllowed(yield* initialize({ fileName, fileSize: 3 }), "fileName", "extension", fileName)
      assert.strictEqual((yield* initialize({ fileName: "a.php", fileSize: 3 })).status, 201)
    })
  )

  it.effect("configured types are rejected, and others accepted", () =>
    Effect.gen(function* () {
      assertNotAllowed(yield* initialize({ fileName: "a.png", fileSize: 3 }), "fileName", "image/png", "name")
      assertNotAllowed(
        yield* initialize({ fileName: "a", fileSize: 3, contentType: "image/x" }),
        "contentType",
        "image/x",
        ""
      )
      assertNotAllowed(yield* initialize({ fileName: "a.zip", fileSize: 3 }), "fileName", "application/zip", "zip")
      assert.strictEqual((yield* initialize({ fileName: "a.html", fileSize: 3 })).status, 201)
      for (const [fileName, bytes, type] of [
        ["a.txt", png, "image/png"],
        ["a.docx", zip, "application/zip"]
      ] as const) {
        const session = yield* begin(bytes.length, { fileName })
        const part = yield* putPart(session, 1, bytes)
        assertNotAllowed(yield* complete(session.uuid, [part]), "parts", type, fileName)
      }
    })
  )

  it.effect("a file of the configured size is accepted, and one byte more is rejected", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* initialize({ fileName: "a.txt", fileSize: 1000 })).status, 201)
      const { body, status } = yield* initialize({ fileName: "a.txt", fileSize: 1001 })
      assert.strictEqual(status, 400)
      assert.deepInclude(body.issues[0], { path: "fileSize", code: "tooLarge" })
      assert.include(body.message, "1000 bytes")
    })
  )
})
