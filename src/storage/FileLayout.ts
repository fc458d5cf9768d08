import { join } from "node:path"
import { isUuid } from "../domain/schema/Fields.ts"

/** The folders below the root. Files with a temporary name are never read and may be removed after an hour. */
export interface FileLayout {
  /** Objects, at `objects/<key>`. */
  readonly objects: string
  /** Open uploads, each a folder `uploads/<id>` with its key and its parts. */
  readonly uploads: string
  readonly temporary: string
}

export const layoutOf = (root: string): FileLayout => ({
  objects: join(root, "objects"),
  uploads: join(root, "uploads"),
  temporary: join(root, "temporary")
})

/** The folder of an upload; `undefined` if this storage did not make the id. */
export const uploadFolder = (layout: FileLayout, id: string): string | undefined =>
  isUuid(id) ? join(layout.uploads, id) : undefined

/** The file in the folder of an upload that holds its key. */
export const keyFile = "key"
