import type { FastifyInstance, FastifyRequest } from "fastify"

interface Upload {
  readonly uploadId: string
  readonly key: string
  readonly initiated: Date
  readonly parts: ReadonlyMap<number, { readonly partNumber: number; readonly body: Buffer; readonly etag: string }>
}

/** The used members of the store inside fauxqs. */
export interface Store {
  readonly createBucket: (name: string) => void
  readonly multipartUploads: ReadonlyMap<string, Upload>
}

const document = (root: string, body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${body}</${root}>`

/** Writes `{ a: 1 }` as `<a>1</a>`; omits undefined members. */
const elements = (members: Readonly<Record<string, string | number | boolean | undefined>>) =>
  Object.entries(members)
    .map(([name, value]) => (value === undefined ? "" : `<${name}>${value}</${name}>`))
    .join("")

const listParts = (upload: Upload, { "part-number-marker": marker = "0" }: Query, size: number) => {
  const all = [...upload.parts.values()].toSorted((a, b) => a.partNumber - b.partNumber)
  const rest = all.filter(({ partNumber }) => partNumber > Number(marker))
  const page = rest.slice(0, size)
  const truncated = rest.length > size
  const parts = page.map(({ body, etag, partNumber }) =>
    elements({ Part: elements({ PartNumber: partNumber, ETag: etag.replaceAll('"', "&quot;"), Size: body.length }) })
  )
  const next = truncated ? page.at(-1)?.partNumber : undefined
  const head = { UploadId: upload.uploadId, IsTruncated: truncated, NextPartNumberMarker: next }
  return document("ListPartsResult", elements(head) + parts.join(""))
}

const listUploads = (uploads: ReadonlyArray<Upload>, query: Query, size: number) => {
  const { prefix = "", "key-marker": keyMarker = "", "upload-id-marker": idMarker = "" } = query
  const placeOf = ({ key, uploadId }: Upload) => `${key}\n${uploadId}`
  const rest = uploads
    .filter((upload) => upload.key.startsWith(prefix) && placeOf(upload) > `${keyMarker}\n${idMarker}`)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  const page = rest.slice(0, size)
  const truncated = rest.length > size
  const last = truncated ? page.at(-1) : undefined
  const head = { IsTruncated: truncated, NextKeyMarker: last?.key, NextUploadIdMarker: last?.uploadId }
  const found = page.map(({ initiated, key, uploadId }) =>
    elements({ Upload: elements({ Key: key, UploadId: uploadId, Initiated: initiated.toISOString() }) })
  )
  return document("ListMultipartUploadsResult", elements(head) + found.join(""))
}

type Query = Readonly<Record<string, string | undefined>>

const noSuchUpload = document("Error", elements({ Code: "NoSuchUpload", Message: "No such upload" }))

/** Adds the listings of parts and uploads, which fauxqs lacks, and pages all listings by `size`. */
export const addListings = (app: FastifyInstance, store: Store, size: number) => {
  app.addHook("preHandler", async (request: FastifyRequest, reply) => {
    const query = request.query as Record<string, string | undefined>
    if (request.method !== "GET") return
    if (query["list-type"] === "2") query["max-keys"] = String(size)
    if ("uploads" in query) {
      await reply.type("application/xml").send(listUploads([...store.multipartUploads.values()], query, size))
    } else if (query["uploadId"] !== undefined) {
      const upload = store.multipartUploads.get(query["uploadId"])
      if (upload === undefined) await reply.code(404).type("application/xml").send(noSuchUpload)
      else await reply.type("application/xml").send(listParts(upload, query, size))
    }
  })
}
