import { openAsBlob } from "node:fs"
import { open, stat } from "node:fs/promises"
import { basename } from "node:path"

/** A blob of Node has the size of its file modulo this number, and reads no bytes behind it. */
const maxNativeSize = 2 ** 32

/** Bytes read at a time. */
const chunkSize = 256 * 1024

/** Some bytes of a file as it was when it was opened. */
interface Range {
  readonly path: string
  readonly modified: number
  readonly fileSize: number
  readonly start: number
  readonly end: number
}

/** Some bytes from a position on. The file is closed after each read, because a stream may end without being cancelled. */
const read = async ({ end, fileSize, modified, path }: Range, position: number) => {
  const file = await open(path)
  try {
    const { mtimeMs, size } = await file.stat()
    const { buffer, bytesRead } = await file.read(new Uint8Array(Math.min(chunkSize, end - position)), { position })
    if (size !== fileSize || mtimeMs !== modified || bytesRead === 0) throw new Error(`${path} has changed`)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const streamOf = (range: Range) => {
  let position = range.start
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        if (position === range.end) return controller.close()
        const chunk = await read(range, position)
        position += chunk.length
        return controller.enqueue(chunk)
      }
    },
    { highWaterMark: 0 }
  )
}

/** Gives an empty blob the bytes of a file, which are read from the disk when they are used. */
const withBytes = <B extends Blob>(blob: B, range: Range): B => {
  const size = range.end - range.start
  const stream = () => streamOf(range)
  const arrayBuffer = () => new Response(stream()).arrayBuffer()
  const offset = (position: number) => Math.min(position < 0 ? Math.max(size + position, 0) : position, size)
  const slice = (from = 0, to = size, type = "") => {
    const start = range.start + offset(from)
    const end = Math.max(start, range.start + offset(to))
    return withBytes(new Blob([], { type }), { ...range, start, end })
  }
  const methods = {
    stream,
    slice,
    arrayBuffer,
    bytes: () => arrayBuffer().then((buffer) => new Uint8Array(buffer)),
    text: () => new Response(stream()).text()
  }
  return Object.assign(Object.defineProperty(blob, "size", { value: size }), methods)
}

/** A file on this machine, for `client.assets.upload`; its bytes are read from the disk as they are sent. */
export const openFile = async (path: string): Promise<File> => {
  const { mtimeMs: modified, size } = await stat(path)
  return size < maxNativeSize
    ? new File([await openAsBlob(path)], basename(path))
    : withBytes(new File([], basename(path)), { path, modified, fileSize: size, start: 0, end: size })
}
