import { Schema } from "effect"
import { Uuid } from "./Fields.ts"
import { unknown } from "./Relations.ts"

/** A file that was never uploaded, or not by a key that may know of it. */
export class FileNotFoundError extends Schema.TaggedError<FileNotFoundError>()(
  "FileNotFoundError",
  { message: Schema.String, uuid: Schema.optionalKey(Uuid), uuids: Schema.optionalKey(Schema.Array(Uuid)) },
  { httpApiStatus: 404 }
) {
  static of = (uuid: string) => new FileNotFoundError({ message: unknown("file or upload", [uuid]), uuid })
}
