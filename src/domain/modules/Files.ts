import { Schema } from "effect"
import { text, Uuid } from "../Fields.ts"
import { Locale } from "../Locale.ts"
import { flag, list, partUuid, position, readOnly } from "../ModuleFields.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../WholeNumber.ts"

const known = (schema: Schema.Codec<string, string>) => Schema.optionalKey(readOnly(schema))

const File = Schema.Struct({
  uuid: partUuid,
  fileUuid: Uuid,
  assetUuid: Schema.optionalKey(Uuid),
  role: Schema.Literals(["download", "preview", "print", "specification", "source"]),
  name: Schema.optionalKey(text(255)),
  fileNameOriginal: known(Schema.String),
  fileExtension: known(Schema.String),
  mimeType: known(Schema.String),
  fileSize: Schema.optionalKey(readOnly(Schema.Int.annotate({ description: "In bytes." }))),
  sha256: known(Schema.String),
  urls: Schema.optionalKey(
    readOnly(
      Schema.Struct({
        original: Schema.String,
        thumbnail: Schema.String,
        preview: Schema.String,
        cdnUrl: Schema.String
      })
    )
  ),
  locale: Schema.optionalKey(Locale),
  position
})

/** The files of the product: what is downloaded, previewed and printed. */
export const FilesModule = Module.make(
  "files",
  {
    files: list(File, { max: 200, of: "files", uniqueBy: "uuid" }),
    downloadAllowed: flag(true),
    downloadLimitPerLocation: Schema.optionalKey(int(1, 1_000_000)),
    watermark: flag(false)
  },
  {
    resolve: (settings, look) => ({
      ...settings,
      files: settings.files.flatMap(({ assetUuid, ...file }) => {
        const facts = look("files", file.fileUuid)
        const asset = assetUuid !== undefined && look("assets", assetUuid) !== undefined ? { assetUuid } : {}
        return facts === undefined ? [] : [{ ...file, ...asset, ...facts }]
      })
    })
  }
)
