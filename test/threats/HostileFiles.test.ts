import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { deflateRawSync, gzipSync } from "node:zlib"
import { download } from "../support/requests/FileRequests.ts"
import { send } from "../support/requests/Requests.ts"
import { begin, complete, initialize, putPart, stored } from "../support/requests/UploadRequests.ts"
import { blackPng, pdf, quarters, svg } from "../support/MediaFixtures.ts"
import { report } from "../support/proofs/Figures.ts"
import * as TestServer from "../support/TestServer.ts"

const text = (content: string) => Buffer.from(content)
const script = "<script>alert(document.domain)</script>"
const dimensions = (width: number, height: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(width, 0)
  bytes.writeUInt16LE(height, 2)
  return bytes
}
const gif = (width = 1, height = 1, after = text("")) =>
  Buffer.concat([
    text("GIF89a"),
    dimensions(width, height),
    Buffer.from("800000000000ffffff2c00000000010001000002024401003b", "hex"),
    after
  ])

/** A zip with one file that claims to be `size` bytes long. */
const zip = (name: string, content: Uint8Array, size: number) => {
  const deflated = deflateRawSync(content)
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(8, 4)
  common.writeUInt32LE(deflated.length, 14)
  common.writeUInt32LE(size, 18)
  common.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([text("PK\u0003\u0004"), common, text(name), deflated])
  const central = Buffer.concat([text("PK\u0001\u0002\u0014\0"), common, Buffer.alloc(14), text(name)])
  const end = Buffer.alloc(22)
  end.write("PK\u0005\u0006", "latin1")
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}

// Written in two halves, so that a virus scanner does not detect this source file.
const eicar = String.raw`X5O!P%@AP[4\PZX54(P^)7CC)7}$` + "EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
const javascript = "var a=1;alert(1);"
const action = "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>"

/** Files that exploit programs which trust them, by a plausible file name. */
const hostile: Readonly<Record<string, Uint8Array>> = {
  "gifar.gif": gif(1, 1, zip("A.class", text("cafebabe"), 8)),
  "script.gif": Buffer.concat([text("GIF89a/*"), Buffer.alloc(20), text(`*/=1;${javascript}`)]),
  "page.gif": gif(1, 1, text(script)),
  "large.gif": gif(65_535, 65_535),
  "drawing.svg": svg(
    `${script}<rect onload="alert(1)" width="9" height="9"/>`,
    'width="9" height="9" onload="alert(1)"'
  ),
  "foreign.svg": svg(
    `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject>`
  ),
  "entities.svg": svg(
    "<text>&c;</text>",
    undefined,
    `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${"&a;".repeat(99)}"><!ENTITY c "${"&b;".repeat(99)}">]>`
  ),
  "passwords.svg": svg("<text>&x;</text>", undefined, `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>`),
  "drawing.png": svg(script),
  "drawing.txt": svg(script),
  "packed.svgz": gzipSync(svg(script)),
  "page.txt": text(`<!doctype html><html>${script}</html>`),
  "page.csv": text(`=cmd|' /C calc'!A0,${script}`),
  "page.xml": text(`<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>`),
  "style.xml": text(`<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#a"?><x/>`),
  "page.jpg": text(`<html>${script}</html>`),
  "page.pdf": text(`<html>${script}</html>`),
  page: text(`<html>${script}</html>`),
  "comment.jpg": Buffer.concat([Buffer.from("ffd8fffe0020", "hex"), text(script), Buffer.from("ffd9", "hex")]),
  "mail.mht": text(`MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${script}`),
  "old.htc": text(`<public:component>${script}</public:component>`),
  "flash.swf": Buffer.concat([text("CWS\u0009"), Buffer.alloc(100)]),
  "document.pdf": pdf({ catalog: action }),
  "polyglot.pdf": Buffer.concat([text(`<!--${script}-->\n`), pdf({ catalog: action })]),
  "bomb.zip": zip("a", Buffer.alloc(5_000_000), 5_000_000),
  "liar.zip": zip("../../etc/cron.d/a", text("a"), 2 ** 32 - 1),
  "macro.docm": zip("word/vbaProject.bin", text("a"), 1),
  "bomb.gz": gzipSync(Buffer.alloc(5_000_000)),
  "pixels.png": blackPng({ width: 65_535, height: 65_535, bytes: 50 }),
  "short.png": blackPng({ width: 9, height: 9 }).subarray(0, 30),
  "eicar.com.txt": text(eicar),
  "eicar.zip": zip("eicar.com", text(eicar), 68),
  "shell.txt": text("#!/bin/sh\nrm -rf ~\n"),
  "php.jpg": text("<?php system($_GET['c']); ?>"),
  "list.m3u8": text("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"),
  "film.mp4": text("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"),
  "magick.mvg": text("push graphic-context\nimage over 0,0 0,0 'https://127.0.0.1/x.php?`id`'\npop graphic-context"),
  "post.ps": text("%!PS\n(/etc/passwd) (r) file"),
  "link.url": text("[InternetShortcut]\r\nURL=file://host/share"),
  "template.txt": text("{{7*7}}${7*7}<%= 7*7 %>#{7*7}")
}

/** Types served inline: raster images, and PDFs, which browsers show in a sandbox. */
const shown = new Set(["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "application/pdf"])
/** Types that a browser would execute. */
const live = /html|javascript|ecmascript|^text\/xsl|x-httpd/

const assertInert = (name: string, { headers, status }: { readonly headers: Headers; readonly status: number }) => {
  const type = headers.get("content-type")!.split(";")[0]!
  const disposition = headers.get("content-disposition")!.split(";")[0]
  assert.strictEqual(status, 200, name)
  assert.strictEqual(disposition, shown.has(type) ? "inline" : "attachment", `${name} ${type}`)
  assert.notMatch(type, live, name)
  assert.strictEqual(headers.get("x-content-type-options"), "nosniff", name)
  const policy = headers.get("content-security-policy")!.split("; ")
  assert.includeMembers(policy, ["sandbox", "default-src 'none'"], name)
  assert.isFalse(
    policy.some((directive) => /allow-|script-src|unsafe-eval/.test(directive)),
    name
  )
  return type
}

layer(TestServer.layer(), { excludeTestServices: true })("hostile files", (it) => {
  it.effect("hostile files are rejected, or stored unchanged and served so that nothing in them is executed", (ctx) =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.forEach(
        Object.entries(hostile),
        Effect.fnUntraced(function* ([fileName, bytes]) {
          const session = yield* initialize({ fileName, fileSize: bytes.length })
          if (session.status === 400) return "rejected"
          assert.strictEqual(session.status, 201, `${fileName} ${session.text}`)
          const part = yield* putPart(session.body.data, 1, bytes)
          const completed = yield* complete(session.body.data.uuid, [part])
          if (completed.status === 400) return "rejected"
          assert.strictEqual(completed.status, 200, `${fileName} ${completed.text}`)
          const created = yield* send("POST", "/v1/assets", { body: { fileUuid: completed.body.data.fileUuid } })
          const { urls } = (yield* send("GET", `/v1/assets/${created.body.data.uuid}`)).body.data
          const original = yield* download(urls.original)
          assert.deepStrictEqual(Buffer.from(original.bytes), Buffer.from(bytes), fileName)
          assertInert(fileName, original)
          const picture = yield* download(urls.thumbnail)
          assert.include(["image/jpeg", "image/webp"], assertInert(`thumbnail of ${fileName}`, picture))
          // Thumbnails are re-encoded and contain nothing of the upload.
          for (const sign of ["<script", "alert(", "root:", "EICAR", "PK\u0003\u0004"])
            assert.notInclude(Buffer.from(picture.bytes).toString("latin1"), sign, fileName)
          return "served inert"
        }),
        { concurrency: 3 }
      )
      const served = outcomes.filter((outcome) => outcome === "served inert").length
      yield* Effect.promise(() =>
        report(ctx, { "hostile files": outcomes.length, "served inert": served, rejected: outcomes.length - served })
      )
      assert.isAbove(served, 20)
      // A valid image is still processed afterwards.
      const valid = yield* Effect.promise(() => quarters(80, 60).png().toBuffer())
      const session = yield* begin(valid.length, { fileName: "photo.png" })
      const done = yield* complete(session.uuid, [yield* putPart(session, 1, valid)])
      assert.strictEqual(assertInert("photo.png", yield* download(done.body.data.url)), "image/png")
    })
  )

  it.effect("executable files are rejected by their extension and by their declared type, and leave no bytes", () =>
    Effect.gen(function* () {
      const before = yield* stored
      for (const fileName of [
        "a.html",
        "a.htm",
        "a.xhtml",
        "a.js",
        "a.mjs",
        "a.exe",
        "a.dll",
        "a.bat",
        "a.msi",
        "a.sh",
        "a.jar",
        "a.apk"
      ]) {
        assert.strictEqual((yield* initialize({ fileName, fileSize: 3 })).status, 400, fileName)
        assert.strictEqual((yield* initialize({ fileName: fileName.toUpperCase(), fileSize: 3 })).status, 400, fileName)
      }
      for (const contentType of [
        "text/html",
        "TEXT/HTML;a=b",
        "application/xhtml+xml",
        "text/javascript",
        "application/java-archive"
      ])
        assert.strictEqual(
          (yield* initialize({ fileName: "a.png", fileSize: 3, contentType })).status,
          400,
          contentType
        )
      assert.deepStrictEqual(yield* stored, before)
    })
  )
})
