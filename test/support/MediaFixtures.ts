import sharp from "sharp"
import { constants, crc32, deflateRawSync, gunzipSync } from "node:zlib"

/** A picture whose quarters are red, green, blue and white, clockwise from the top left. */
export const quarters = (width = 1600, height = 1200) => {
  const half = { width: width / 2, height: height / 2 }
  const rectangle = (fill: string, x: number, y: number) =>
    `<rect x="${x}" y="${y}" width="${half.width}" height="${half.height}" fill="${fill}"/>`
  return sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
        rectangle("#f00", 0, 0) +
        rectangle("#0f0", half.width, 0) +
        rectangle("#00f", half.width, half.height) +
        rectangle("#fff", 0, half.height) +
        "</svg>"
    )
  ).removeAlpha()
}

/** An image of noise, which compresses badly. */
export const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: "#000", noise: { type: "gaussian", mean: 128, sigma: 40 } }
  })

const chunk = (type: string, data: Uint8Array) => {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data])
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  const tail = Buffer.alloc(4)
  tail.writeUInt32BE(crc32(content))
  return Buffer.concat([head, content, tail])
}

/** Zeros in the format of zlib: one block again and again, because to compress them all takes a second for 400 MB. */
const deflatedZeros = (length: number) => {
  const size = 4 * 1024 * 1024
  const block = deflateRawSync(Buffer.alloc(size), { finishFlush: constants.Z_FULL_FLUSH })
  const rest = deflateRawSync(Buffer.alloc(length % size))
  // The sums of Adler-32: first of the sums after each byte, then of the bytes, both from 1.
  const checksum = Buffer.alloc(4)
  checksum.writeUInt16BE(length % 65_521, 0)
  checksum.writeUInt16BE(1, 2)
  const blocks = Array.from({ length: Math.floor(length / size) }, () => block)
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, rest, checksum])
}

interface Png {
  readonly width: number
  readonly height: number
  readonly bits?: 1 | 8 | 16
  readonly channels?: 1 | 4
  readonly interlaced?: boolean
  /** The number of pixel bytes, if the image is truncated. */
  readonly bytes?: number
}

/** A black PNG, built by hand, because a few hundred kilobytes can decompress to gigabytes. */
export const blackPng = ({ bits = 8, bytes, channels = 1, height, interlaced = false, width }: Png) => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([bits, channels === 1 ? 0 : 6, 0, 0, interlaced ? 1 : 0], 8)
  const row = 1 + Math.ceil((width * bits * channels) / 8)
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflatedZeros(bytes ?? row * height)),
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** A red AVIF of 8,000 by 6,000 pixels, which take a second and a half to encode; the bytes of sharp with effort 0, compressed. */
export const largeAvif = () =>
  gunzipSync(
    Buffer.from(
      "H4sIAAAAAAACA2NgYJBJK6ksSCzLTGNgYGDIzUwzBLFzMxNB/Gu5qSWJDBCgmJGSUwRlMxRkJpcwoAGlzJz8ZBDDxYGBkYERLPYLSjMwGzEwMC" +
        "hnZuaBrQGLimbmpaUyQXmJZQaGICZfQWZJLlxJWGZBUQEDA4NFZkFyPgMDA09imaFzoz1Yk0hmcUEqxHB5BwYGcZA6gYLMikywdRwcHAwMDGKZ" +
        "Bbkw9zMyMDI3MjEzMDBb5aYklggxcHHZf7arL/s2QeBCptFCNmGhlmOc7fMqnzU5MDCEnz/jqrSP26Y5aNWn1dq/pzIVHWWPnnC/Jnzuxj6LAy" +
        "tdt17506qsM7Oq1kjoWviMWdmRxlt9t87mvPf+l2orf1ruxUXv8l+qrdun8LwxkXXF4zttLpKCx2WtFr/kjjx/Jihu4pw+2YztMiX6J6YGMD+W" +
        "DDBNcbL96i+iv+b2O+92U//gsNJPYptnGjsxlT/oivj3LPmkjGO8wvK7v6PCg0W7Qx5vVwmZ/vS04wWeSs92Bc6f9lFi17e5Czwg02itXX0dcw" +
        "sWSly5vdj1zv1LvrE1jueZDnEHHt/J02Gk3GdV6n5JbNTVaK6upImrrS0mBn/Z8+3Hmvkq8/+154Ql5a/ctmbrm4vdZ/p6YjldeLP/6DY/oImn" +
        "HgSltd9cGv1hlrppghIbX8nDUy+X+OqJyR9R/7ly0gWXSY7JLjsAIv5/NCwEAAA=",
      "base64"
    )
  )

export const svg = (content: string, attributes = 'width="400" height="300"', prolog = "") =>
  Buffer.from(
    `${prolog}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`
  )

/** A PDF with one page. Additional objects are numbered from 100. */
export const pdf = ({
  catalog = "",
  drawing = "1 0 0 rg 0 0 300 400 re f",
  page = "/MediaBox [0 0 600 400]",
  objects = [] as ReadonlyArray<string>
} = {}) => {
  const bodies = new Map([
    [1, `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`],
    [2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [3, `<< /Type /Page /Parent 2 0 R ${page} /Contents 4 0 R /Resources << /XObject << /Im 100 0 R >> >> >>`],
    [4, `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`],
    ...objects.map((object, index) => [100 + index, object] as const)
  ])
  let text = "%PDF-1.7\n"
  const offsets = [...bodies].map(([number, body]) => {
    const offset = text.length
    text += `${number} 0 obj\n${body}\nendobj\n`
    return `${number} 1\n${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const start = text.length
  text += `xref\n0 1\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size 200 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(text, "latin1")
}

/** Contents that are not images, which a client may upload with the name of one. */
export const nonImages = {
  "an archive": Buffer.from("504b0304140000000800", "hex"),
  "a program": Buffer.concat([Buffer.from("MZ\x90\x00\x03\x00\x00\x00", "latin1"), Buffer.alloc(500)]),
  "a page": Buffer.from("<!doctype html><script>alert(1)</script>"),
  "a drawing": svg('<path d="M0 0H9V9Z"/>'),
  "a document": pdf(),
  "a table of numbers": Buffer.from("1 2 3\n4 5 6\n"),
  nothing: Buffer.alloc(0),
  "a truncated picture": Buffer.from("ffd8ffe000104a464946", "hex")
}

/** A drawing that takes longer to render than the timeout. */
export const endlessDrawing = svg(
  `<filter id="f" x="0" y="0" width="1" height="1">` +
    '<feTurbulence baseFrequency="0.01" numOctaves="9999"/><feGaussianBlur stdDeviation="500"/>'.repeat(20) +
    '</filter><rect width="400" height="300" filter="url(#f)"/>'
)

/** A page of lines with a very large number of dashes. */
const endlessPage = pdf({ drawing: `[.01] 0 d 1 w ${"0 0 m 600 400 l S\n".repeat(20_000)}` })

/** Files whose rendering never finishes; the page also blocks the event loop of its decoder. */
export const endless = [
  { title: "a drawing", bytes: endlessDrawing, type: "image/svg+xml" },
  { title: "a page", bytes: endlessPage, type: "application/pdf" }
]
