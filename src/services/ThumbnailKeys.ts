import { storageKey } from "../domain/assets/File.ts"
import type { Wanted } from "../media/Renderer.ts"

export const mimeTypes = { webp: "image/webp", jpeg: "image/jpeg" } as const

const extensions = { webp: ".webp", jpeg: ".jpg" } as const

/** The storage key of a thumbnail. */
export const thumbnailKey = (uuid: string, { format, size }: Wanted) =>
  `${storageKey(uuid, `${size}_`)}${extensions[format]}`

const sizes: ReadonlyArray<Wanted["size"]> = ["thumbnail", "preview"]
const formats: ReadonlyArray<Wanted["format"]> = ["webp", "jpeg"]

/** The storage keys of all thumbnails of a file. */
export const thumbnailKeys = (uuid: string): ReadonlyArray<string> =>
  sizes.flatMap((size) => formats.map((format) => thumbnailKey(uuid, { format, size })))

/** The thumbnails that are made ahead of the first request. */
export const defaultThumbnails: ReadonlyArray<Wanted> = sizes.map((size) => ({ size, format: "webp" }))
