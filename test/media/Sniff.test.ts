import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { deflateRawSync, gzipSync } from "node:zlib"
import { randomOf } from "../support/Random.ts"
import * as Sniff from "../../src/media/Sniff.ts"
import { cpuMillis } from "../support/CpuTime.ts"
import { pdf, quarters, nonImages, svg } from "../support/MediaFixtures.ts"
import { atBest } from "../support/Until.ts"

const pictures = {
  "image/jpeg": quarters(80, 60).jpeg(),
  "image/png": quarters(80, 60).png(),
  "image/webp": quarters(80, 60).webp(),
  "image/gif": quarters(80, 60).gif(),
  "image/tiff": quarters(80, 60).tiff(),
  "image/avif": quarters(80, 60).avif({ effort: 0 })
}
const { headLength, isInline } = Sniff
/** The type of a whole file, or of the first bytes of a file of a size. */
const sniff = (bytes: Uint8Array, size = bytes.length) => Sniff.sniff(bytes, size)

const text = (content: string) => Buffer.from(content)
const comment = `<!--${" <svg> -".repeat(300)}-->`
const drawings = [
  svg(""),
  text("<svg>"),
  text(`\uFEFF<?xml version="1.0"?>\n${comment}\n<!-- b -->\n<svg\nwidth="1">`),
  text('<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd"><svg>')
]
const notDrawings = [
  "<svgs>",
  "<!-- <svg> -->",
  "<html><svg>",
  "a<svg>",
  "<?xml?><svg",
  "&lt;svg>",
  "<!doctype html><svg>"
]

/** Offsets that are text, where Windows looks for the header of a program, with the sizes of the smallest files that have it. */
const offsets = [
  ["\t\t\t\t", 0x0909_0909 + 4],
  ["aaa\n", 0x0a61_6161 + 4],
  ["12\r\n", 0x0a0d_3231 + 4],
  [";\r\n\r", 0x0d0a_0d3b + 4]
] as const

describe("detection of file types", () => {
  for (const [type, picture] of Object.entries(pictures))
    it.effect(`${type} is detected in the first ${headLength} bytes`, () =>
      Effect.gen(function* () {
        const bytes = yield* Effect.promise(() => picture.toBuffer())
        assert.strictEqual(yield* sniff(bytes), type)
        assert.strictEqual(yield* sniff(Buffer.concat([bytes, Buffer.alloc(10_000)]).subarray(0, headLength)), type)
      })
    )

  it.effect("documents, archives and programs are detected, and text has no type", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sniff(pdf()), "application/pdf")
      assert.strictEqual(yield* sniff(nonImages["a program"]), "application/x-msdownload")
      assert.strictEqual(yield* sniff(gzipSync("a")), "application/gzip")
      assert.strictEqual(yield* sniff(text(`OggS${"\0".repeat(24)}OpusHead`)), "audio/ogg")
      for (const bytes of [nonImages["a page"], nonImages["a table of numbers"], nonImages.nothing])
        assert.strictEqual(yield* sniff(bytes), undefined)
    })
  )

  it.effect("text that begins with the letters of a signature has no type, also if its last character is cut", () =>
    Effect.gen(function* () {
      const starts = [
        "MZ;Mozambique",
        "BMW prices",
        "ID3 of the board",
        "BZh;",
        "FWS list",
        "GIFts",
        "FORMs",
        "The free beer"
      ]
      const more = ["solid ground", "%!TEX root = a.tex", "\uFEFFMZ;Moçambique\r\n\t"]
      for (const start of [...starts, ...more])
        for (const bytes of [text(start), text(start + "é".repeat(headLength))])
          assert.strictEqual(yield* sniff(bytes), undefined, start)
    })
  )

  it.effect("formats that are text are detected", () =>
    Effect.gen(function* () {
      for (const [type, start] of [
        ["application/pdf", "%PDF-1.7\n"],
        ["application/rtf", "{\\rtf1 a}"],
        ["application/xml", '<?xml version="1.0"?><a/>'],
        ["text/vcard", "BEGIN:VCARD\n"],
        ["application/x-ms-regedit", "REGEDIT4\r\n"]
      ] as const)
        assert.strictEqual(yield* sniff(text(start)), type)
    })
  )

  it.effect(
    "a program is detected with any control character, invalid UTF-8 or a header where Windows looks for it",
    () =>
      Effect.gen(function* () {
        for (const end of ["\0", "\u0001", "\u007f", "\u0085"])
          assert.strictEqual(yield* sniff(text(`MZ${end}`)), "application/x-msdownload")
        assert.strictEqual(yield* sniff(Buffer.from("MZ\x90;", "latin1")), "application/x-msdownload")
        for (const [offset, size] of offsets)
          assert.strictEqual(yield* sniff(text(`MZ;${"a".repeat(57)}${offset}`), size), "application/x-msdownload")
      })
  )

  it.effect("text whose header of a program would be behind its end has no type", () =>
    Effect.gen(function* () {
      for (const [offset, size] of offsets) {
        const head = text(`MZ;${"a".repeat(57)}${offset}`)
        for (const smaller of [head.length, size - 1]) assert.isUndefined(yield* sniff(head, smaller))
      }
      // Too far for Windows in a file of any size.
      assert.isUndefined(yield* sniff(text(`MZ;${"a".repeat(61)}`), 2 ** 33))
    })
  )

  it.effect("an SVG is detected by its root element, after declarations and comments", () =>
    Effect.gen(function* () {
      for (const drawing of drawings) assert.strictEqual(yield* sniff(drawing), "image/svg+xml", drawing.toString())
      for (const other of notDrawings) assert.notStrictEqual(yield* sniff(text(other)), "image/svg+xml", other)
    })
  )

  const zip = (content: Uint8Array, size: number) => {
    const head = Buffer.alloc(30)
    head.write("PK\x03\x04", "latin1")
    head.writeUInt16LE(8, 8)
    head.writeUInt32LE(content.length, 18)
    head.writeUInt32LE(size, 22)
    head.writeUInt16LE(19, 26)
    return Buffer.concat([head, text("[Content_Types].xml"), content])
  }
  const hostile = {
    "megabytes in a gzip": gzipSync(Buffer.alloc(4_000_000)),
    "megabytes in a zip": zip(deflateRawSync(Buffer.alloc(4_000_000)), 2 ** 32 - 1),
    "a zip of local headers only": Buffer.concat(Array.from({ length: 130 }, () => zip(Buffer.alloc(0), 0))),
    "boxes within boxes": text("\0\0\0\x08ftyp".repeat(500)),
    "unclosed comments": text("<!--".repeat(1025)),
    "many short comments": text(`${"<!---->".repeat(580)}<x`),
    "only white space": text(" ".repeat(headLength)),
    "unclosed processing instructions": text("<?".repeat(2050)),
    "an ID3 tag of 256 MiB": text("ID3\x04\0\0\x7f\x7f\x7f\x7f"),
    "a matroska of unknown sizes": Buffer.from("1a45dfa301ffffffffffffff4282".repeat(200), "hex"),
    "an ASF of endless objects": Buffer.from("3026b2758e66cf11a6d9".padEnd(60, "f").repeat(100), "hex")
  }
  for (const [title, bytes] of Object.entries(hostile))
    it.live(`detection takes less than 200 ms of a processor for ${title}`, () =>
      Effect.gen(function* () {
        yield* sniff(bytes)
        yield* atBest(
          Effect.gen(function* () {
            const before = cpuMillis()
            yield* sniff(bytes)
            assert.isBelow(cpuMillis() - before, 200)
          })
        )
      })
    )

  it.effect("detection never fails on random bytes", () =>
    Effect.gen(function* () {
      const random = randomOf(4100)
      const heads = Object.values(hostile).map((bytes) => bytes.subarray(0, 40))
      for (let round = 0; round < 2000; round++) {
        const head = heads[round % heads.length]!
        const rest = Buffer.from(Array.from({ length: round % 300 }, () => random() * 256))
        const type = yield* sniff(Buffer.concat([head.subarray(0, round % 41), rest]))
        assert.isTrue(type === undefined || /^[a-z]+\/[\w.+-]+$/i.test(type), type)
      }
    })
  )
})

describe("inline types", () => {
  it("only raster images that browsers support and PDF are served inline", () => {
    const shown = ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "application/pdf"]
    for (const type of shown) assert.isTrue(isInline(type), type)
    const hidden = [
      "image/svg+xml",
      "text/html",
      "text/plain",
      "application/xml",
      "image/tiff",
      "video/mp4",
      "",
      "image/png; a"
    ]
    for (const type of hidden) assert.isFalse(isInline(type), type)
  })
})
