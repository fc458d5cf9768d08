import { Schema, SchemaIssue } from "effect"
import { text, Uuid } from "../../schema/Fields.ts"
import { FileUrls } from "../../assets/File.ts"
import { Locale } from "../../schema/Locale.ts"
import { acceptedLocale, flag, list, partUuid, position } from "../ModuleFields.ts"
import { mark, readOnly, references } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { Count, int } from "../../schema/WholeNumber.ts"

const known = (schema: Schema.Codec<string, string>) => Schema.optionalKey(readOnly(schema))

const File = Schema.Struct({
  uuid: partUuid,
  fileUuid: mark(
    Uuid.pipe(
      Schema.annotateEncoded({ description: "With an `assetUuid` the current file of the asset, whatever is sent." })
    ),
    { references: "files", suppliedBy: "assetUuid" }
  ),
  assetUuid: Schema.optionalKey(Uuid.pipe(references("assets"))),
  role: Schema.Literals(["download", "preview", "print", "specification", "source"]),
  name: Schema.optionalKey(text(255)),
  fileNameOriginal: known(Schema.String),
  fileExtension: known(Schema.String),
  mimeType: known(Schema.String),
  fileSize: Schema.optionalKey(readOnly(Count.annotate({ description: "In bytes." }))),
  sha256: known(Schema.String),
  urls: Schema.optionalKey(readOnly(Schema.Struct(FileUrls.fields))),
  locale: Schema.optionalKey(acceptedLocale(Locale)),
  position
}).check(
  Schema.makeFilter<{ readonly fileUuid: string | null; readonly assetUuid?: string | null }>(
    ({ assetUuid, fileUuid }) =>
      (fileUuid ?? assetUuid ?? undefined) !== undefined || {
        path: ["fileUuid"],
        issue: new SchemaIssue.MissingKey(undefined)
      }
  )
)

/** The files of the product: what is downloaded, previewed and printed. */
export const FilesModule = Module.make("files", {
  files: list(File, { max: 200, of: "files", uniqueBy: "uuid" }),
  downloadAllowed: flag(true),
  downloadLimitPerLocation: Schema.optionalKey(int(1, 1_000_000)),
  watermark: flag(false)
})
