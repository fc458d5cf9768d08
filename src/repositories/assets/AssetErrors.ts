import { FileNotFoundError } from "../../domain/assets/File.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"

/** What the constraints of assets refuse, in the words of the request that gave the asset this file. */
export const constraintErrors = (fileUuid: string | undefined) =>
  byConstraint({
    assets_file_exists: () => FileNotFoundError.of(fileUuid ?? ""),
    assets_file_uuid_key: () => refused("fileUuid", "notUnique", "Another asset has this file already"),
    assets_translations_present: () =>
      refused("translations", "required", "An asset keeps at least one translation; send another one with this"),
    assets_translations_limit: () => refused("translations", "tooMany", "Expected at most 100 translations"),
    assets_translations_named: () => refused("translations", "required", "A translation in a new locale needs a name"),
    assets_validity: () => refused("validUntil", "outOfRange", "validUntil must be after validFrom"),
    assets_focal_point_complete: () => refused("focalPoint", "incomplete", "x and y must both be set, or neither")
  })

const refused = (path: string, code: string, message: string) =>
  InvalidRequestError.of([{ in: "body", path, code, message }])
