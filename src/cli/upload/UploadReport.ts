import { Console, Effect } from "effect"
import type { LocalFile } from "./LocalFile.ts"
import type { Found, RejectedFile } from "./LocalFiles.ts"
import * as Progress from "../Progress.ts"
import type { Summary } from "./UploadAssets.ts"

/** The result in one line. */
export const report = (summary: Omit<Summary, "left"> & { readonly skipped: number }, seconds: number): string => {
  const { present, refused, sent, skipped, uploaded } = summary
  const parts = [
    { name: "uploaded", files: uploaded },
    { name: "already there", files: present },
    { name: "skipped", files: skipped },
    { name: "refused", files: refused }
  ]
    .filter(({ files }) => files > 0)
    .map(({ files, name }) => `${Progress.count(files)} ${name}`)
  const rate = `${Progress.size(sent)} in ${seconds.toFixed(1)} s, ${Progress.size(sent / seconds)}/s`
  return `files: ${parts.length > 0 ? parts.join(", ") : "nothing to do"} (${rate})`
}

/** The result of a dry run in one line. */
export const preview = (found: Found, wanted: ReadonlyArray<LocalFile>): string => {
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0)
  const parts = [
    `${Progress.count(wanted.length)} to upload (${Progress.size(bytes)})`,
    `${Progress.count(found.files.length - wanted.length)} already there`,
    `${Progress.count(found.skipped.length)} skipped`
  ]
  return `files: ${parts.join(", ")}; nothing was sent`
}

/** Prints the first 20 lines and the number of the rest. */
const printLines = (lines: ReadonlyArray<string>) => {
  const shown = lines.slice(0, 20)
  const rest = lines.length > shown.length ? [`… and ${Progress.count(lines.length - shown.length)} more`] : []
  return Effect.forEach([...shown, ...rest], (line) => Console.log(line), { discard: true })
}

export const printSkipped = ({ skipped }: Found) =>
  printLines(skipped.map(({ shown, why }) => `skipped ${shown}: ${why}`))

export const printRefused = (rejected: ReadonlyArray<RejectedFile>) =>
  printLines(
    rejected.map(({ reasons, shown }) => `refused ${shown}: ${reasons.map(({ message }) => message).join("; ")}`)
  )
