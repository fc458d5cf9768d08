import { maxName } from "../../domain/assets/Asset.ts"
import { stemOf } from "../../domain/assets/File.ts"

/**
 * The name of an asset, from the name of its file: without the extension, and with spaces instead of separators. Hyphens
 * stay in dates, and in names that contain spaces already.
 */
export const assetName = (fileName: string): string => {
  const stem = stemOf(fileName)
  const isOneWord = !/[\s_]/.test(stem)
  const spaced = stem
    .replaceAll("_", " ")
    .replaceAll(/(?<!\d)-+|-+(?!\d)/g, (hyphens) => (isOneWord ? " " : hyphens))
    .replaceAll(/\s+/g, " ")
    .trim()
  return Array.from(spaced === "" ? fileName : spaced)
    .slice(0, maxName)
    .join("")
}
