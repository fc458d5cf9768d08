import { Console, Effect, Option } from "effect"
import { assetName } from "./AssetName.ts"
import * as Contents from "./Contents.ts"
import type { LocalFile } from "./LocalFile.ts"
import type { Found, RejectedFile } from "./LocalFiles.ts"
import * as Progress from "../Progress.ts"
import type { Summary } from "./UploadAssets.ts"
import type { Planned } from "./UploadPlan.ts"

const listed = (parts: ReadonlyArray<{ readonly name: string; readonly files: number }>) =>
  parts.filter(({ files }) => files > 0).map(({ files, name }) => `${Progress.count(files)} ${name}`)

/** The result in one line. */
export const report = (summary: Omit<Summary, "left"> & { readonly skipped: number }, seconds: number): string => {
  const { present, refused, sent, skipped, uploaded } = summary
  const parts = listed([
    { name: "uploaded", files: uploaded },
    { name: "already there", files: present },
    { name: "skipped", files: skipped },
    { name: "refused", files: refused }
  ])
  const rate = `${Progress.size(sent)} in ${seconds.toFixed(1)} s, ${Progress.size(sent / seconds)}/s`
  return `files: ${parts.length > 0 ? parts.join(", ") : "nothing to do"} (${rate})`
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

/** A file with the content of another one, which has an asset or comes first. */
export interface Duplicate {
  readonly shown: string
  readonly sameAs: string
}

export const printDuplicates = Effect.fnUntraced(function* (duplicates: ReadonlyArray<Duplicate>) {
  if (duplicates.length === 0) return
  yield* printLines(duplicates.map(({ sameAs, shown }) => `already there as ${sameAs}: ${shown}`))
  yield* Console.log("--keep-duplicates uploads files whose content is already there under another name")
})

/** Prints the files whose content is not what their name says. */
export const printContradictions = Effect.fnUntraced(function* (files: ReadonlyArray<LocalFile>) {
  const found = yield* Effect.forEach(files, (file) =>
    Effect.map(
      // A file may be gone since it was uploaded, and the check is only a hint.
      Effect.orElseSucceed(Contents.contradiction(file), () => Option.none<string>()),
      Option.map((problem) => `check ${file.shown}: ${problem}`)
    )
  )
  yield* printLines(found.flatMap(Option.toArray))
})

/** Prints what an upload would do. */
export const printPlan = Effect.fnUntraced(function* (found: Found, planned: ReadonlyArray<Planned>) {
  const wanted = planned.flatMap(({ file, outcome }) => (outcome === "upload" ? [file] : []))
  for (const { name, shown, size } of wanted) {
    yield* Console.log(`would upload ${shown} as "${assetName(name)}" (${Progress.size(size)})`)
  }
  const refused = [
    ...found.unreadable,
    ...planned.flatMap((one) => (one.outcome === "refused" ? [{ shown: one.file.shown, reasons: one.reasons }] : []))
  ]
  const present = planned.filter(({ outcome }) => outcome === "present")
  yield* printContradictions(wanted)
  yield* printSkipped(found)
  yield* printRefused(refused)
  yield* printDuplicates(
    planned.flatMap((one) =>
      one.outcome === "present" && one.sameAs !== undefined ? [{ shown: one.file.shown, sameAs: one.sameAs }] : []
    )
  )
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0)
  const parts = [
    `${Progress.count(wanted.length)} to upload (${Progress.size(bytes)})`,
    `${Progress.count(present.length)} already there`,
    `${Progress.count(found.skipped.length)} skipped`,
    ...listed([{ name: "refused", files: refused.length }])
  ]
  yield* Console.log(`files: ${parts.join(", ")}; nothing was sent`)
})
