import { openAsBlob } from "node:fs"
import { basename } from "node:path"

/** A file on this machine, for `client.assets.upload`; its bytes are read from the disk as they are sent. */
export const openFile = (path: string): Promise<File> =>
  openAsBlob(path).then((bytes) => new File([bytes], basename(path)))
