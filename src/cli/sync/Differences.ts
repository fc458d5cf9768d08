import { Struct } from "effect"
import type { Plan, PlanChange } from "../../domain/plans/Plan.ts"
import * as Progress from "../Progress.ts"

const ansi = { red: 31, green: 32, yellow: 33, dim: 2 } as const

/** Colours text, if the terminal shows colours. */
export const painter =
  (hasColour: boolean) =>
  (colour: keyof typeof ansi, text: string): string =>
    hasColour ? `\u001B[${ansi[colour]}m${text}\u001B[0m` : text

type Paint = ReturnType<typeof painter>

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** A change of a plan in lines: its record, its place in the file, and each member before and after. */
export const linesOf = (
  paint: Paint,
  placeAt: (row: number) => string,
  { changes, issues = [], key, kind, row }: PlanChange
): ReadonlyArray<string> => [
  `${kind} ${key === "" ? "(no key)" : key}${row === undefined ? "" : paint("dim", ` ${placeAt(row)}`)}`,
  ...issues.map(({ message, path }) => paint("yellow", `  ${path === "" ? message : `${path}: ${message}`}`)),
  ...(kind === "delete"
    ? []
    : changes.flatMap(({ added = [], after, before, path, removed = [] }) => [
        ...[before, ...removed].flatMap((value) =>
          value === undefined ? [] : [paint("red", `  - ${path}: ${shown(value)}`)]
        ),
        ...[after, ...added].flatMap((value) =>
          value === undefined ? [] : [paint("green", `  + ${path}: ${shown(value)}`)]
        )
      ]))
]

/** What a plan would do, in one line. */
export const summaryOf = ({ counts, resource }: Pick<Plan, "counts" | "resource">): string => {
  const words = {
    create: "to create",
    update: "to update",
    delete: "to delete",
    unchanged: "unchanged",
    refused: "refused"
  }
  const parts = Struct.keys(words).flatMap((kind) =>
    counts[kind] === 0 ? [] : [`${Progress.count(counts[kind])} ${words[kind]}`]
  )
  return `${resource}: ${parts.length === 0 ? "the file is empty" : parts.join(", ")}`
}

/** Whether applying a plan would write something. */
export const writes = ({ counts }: Pick<Plan, "counts">): boolean => counts.create + counts.update + counts.delete > 0
