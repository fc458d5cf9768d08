import { FileNotFoundError } from "../../domain/assets/File.ts"
import { maxTranslations } from "../../domain/schema/Translations.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"

/** The errors of the constraints of assets; `fileUuid` is the file of the request. */
export const constraintErrors = (fileUuid: string | undefined) =>
  byConstraint({
    assets_file_exists: () => FileNotFoundError.of(fileUuid ?? ""),
    assets_file_uuid_key: () =>
      InvalidRequestError.inBody("fileUuid", "notUnique", "Another asset has this file already"),
    assets_translations_present: () =>
      InvalidRequestError.inBody(
        "translations",
        "required",
        "An asset keeps at least one translation; send another one with this"
      ),
    assets_translations_limit: () =>
      InvalidRequestError.inBody("translations", "tooMany", `Expected at most ${maxTranslations} translations`),
    assets_translations_named: () =>
      InvalidRequestError.inBody("translations", "required", "A translation in a new locale needs a name"),
    assets_validity: () => InvalidRequestError.inBody("validUntil", "outOfRange", "validUntil must be after validFrom"),
    assets_focal_point_complete: () =>
      InvalidRequestError.inBody("focalPoint", "incomplete", "x and y must both be set, or neither")
  })
