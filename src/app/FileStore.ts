import { Effect, Layer, Option, Path, Redacted } from "effect"
import { Settings } from "../settings/Config.ts"
import * as DataFolder from "./DataFolder.ts"
import * as FileStorage from "../storage/FileStorage.ts"
import * as S3Storage from "../storage/S3Storage.ts"

const folderIn = (path: Path.Path, dataFolder: string) => path.join(dataFolder, "files")

/** The folder of the local file storage. */
export const folder = Effect.gen(function* () {
  return folderIn(yield* Path.Path, yield* DataFolder.make)
})

/** The name of the configured storage. Creates nothing. */
export const name = Effect.gen(function* () {
  const { DATA_DIR, S3_BUCKET, STORAGE } = yield* Settings
  const path = yield* Path.Path
  return STORAGE === "s3" ? `the bucket ${Option.getOrThrow(S3_BUCKET)}` : folderIn(path, path.resolve(DATA_DIR))
})

/** The S3 storage of the settings. */
export const bucket = (settings: Settings["Service"]) => {
  const endpoint = Option.getOrUndefined(settings.S3_ENDPOINT)
  const accessKeyId = Option.getOrUndefined(settings.S3_ACCESS_KEY_ID)
  const secretAccessKey = Option.getOrUndefined(settings.S3_SECRET_ACCESS_KEY)
  return S3Storage.layer({
    region: settings.S3_REGION,
    bucket: Option.getOrThrow(settings.S3_BUCKET),
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : { accessKeyId, secretAccessKey })
  })
}

/** The configured storage for commands that accept no uploads; it signs no part addresses. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings
    if (settings.STORAGE === "s3") return bucket(settings)
    return FileStorage.layer({ root: yield* folder, publicUrl: "", secret: Redacted.make(new Uint8Array(32)) })
  })
)
