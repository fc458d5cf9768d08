/**
 * The formats that can be drawn, by MIME type. Each type names the one decoder of its files, and the decoder is not guessed
 * from the bytes: a file whose content differs from its type is rejected and reaches no other decoder.
 */

export type Format =
  | { readonly kind: "raster"; readonly loader: string }
  | { readonly kind: "vector" }
  | { readonly kind: "pdf" }
  | { readonly kind: "video"; readonly demuxer: string }

const raster = (loader: string): Format => ({ kind: "raster", loader })

const video = (demuxer: string): Format => ({ kind: "video", demuxer })

const formats: Readonly<Record<string, Format>> = {
  "image/jpeg": raster("VipsForeignLoadJpeg"),
  "image/png": raster("VipsForeignLoadPng"),
  "image/apng": raster("VipsForeignLoadPng"),
  "image/webp": raster("VipsForeignLoadWebp"),
  "image/gif": raster("VipsForeignLoadNsgif"),
  "image/tiff": raster("VipsForeignLoadTiff"),
  "image/avif": raster("VipsForeignLoadHeif"),
  "image/svg+xml": { kind: "vector" },
  "application/pdf": { kind: "pdf" },
  "video/mp4": video("mov"),
  "video/quicktime": video("mov"),
  "video/x-m4v": video("mov"),
  "video/3gpp": video("mov"),
  "video/3gpp2": video("mov"),
  "video/webm": video("matroska"),
  "video/matroska": video("matroska"),
  "video/x-matroska": video("matroska"),
  "video/vnd.avi": video("avi"),
  "video/x-msvideo": video("avi")
}

/** The maximum size of files that are read into memory, in MiB. */
const maxMebibytes = { vector: 8, pdf: 100 } as const

/** Why a file of the kind and size, in bytes, is not drawn; undefined if it may be. */
export const excess = (kind: Format["kind"], size: number) =>
  (kind === "vector" || kind === "pdf") && size > maxMebibytes[kind] * 1024 ** 2
    ? `it is larger than ${maxMebibytes[kind]} MiB`
    : undefined

/** The format of a MIME type; undefined if it cannot be drawn. */
export const format = (mimeType: string): Format | undefined =>
  Object.hasOwn(formats, mimeType) ? formats[mimeType] : undefined
