import { createHash } from "node:crypto"
import { mkdirSync, rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { each, type Times } from "./upload-client.ts"

const bufferSize = 1024 * 1024

const withFile = async <A>(path: string, flags: string, use: (file: FileHandle) => Promise<A>): Promise<A> => {
  const file = await open(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

const chunks = async (file: FileHandle, use: (chunk: Uint8Array) => unknown) => {
  const buffer = Buffer.allocUnsafe(bufferSize)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, bufferSize)
    if (bytesRead === 0) return
    await use(buffer.subarray(0, bytesRead))
  }
}

/** A file of these bytes that a power failure does not take. */
export const writeDurably = (path: string, bytes: Uint8Array): Promise<void> =>
  withFile(path, "wx", async (file) => {
    await file.writeFile(bytes)
    await file.sync()
  })

/**
 * What this machine needs by itself, without a service, for what an upload has to do: the parts written and flushed, a copy
 * of all of them flushed, and the copy read and hashed.
 */
export const diskTimes = async (
  folder: string,
  parts: number,
  parallel: number,
  bytesOf: (part: number) => Buffer
): Promise<Times> => {
  const place = join(folder, "disk")
  mkdirSync(place)
  const pathOf = (part: number) => join(place, `part-${part}`)
  const joined = join(place, "joined")
  const began = performance.now()
  await each(parts, parallel, (part) => writeDurably(pathOf(part), bytesOf(part)))
  const arrived = performance.now()
  await withFile(joined, "wx", async (copy) => {
    for (let part = 0; part < parts; part++) {
      await withFile(pathOf(part), "r", (file) => chunks(file, (chunk) => copy.writeFile(chunk)))
    }
    await copy.sync()
  })
  const hash = createHash("sha256")
  await withFile(joined, "r", (file) => chunks(file, (chunk) => hash.update(chunk)))
  hash.digest()
  const ended = performance.now()
  rmSync(place, { recursive: true })
  return { parts: arrived - began, completion: ended - arrived }
}
