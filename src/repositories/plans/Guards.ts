import type { Counts, Guard } from "../../domain/plans/Plan.ts"

interface Options {
  /** How many records are compared, and how many percent of them may be deleted. */
  readonly records: number
  readonly maxDeletes: number
  /** How many of the refused ones are deletions. */
  readonly kept: number
  /** The row because of which nothing is deleted. */
  readonly unreadable: number | undefined
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`

/** The safety checks that a plan does not pass. */
export const guardsOf = (counts: Counts, { kept, maxDeletes, records, unreadable }: Options): ReadonlyArray<Guard> => {
  const { create, delete: deletions, refused, unchanged, update } = counts
  const guards: Array<Guard> = []
  const rows = refused - kept
  if (create + update + unchanged + rows === 0) guards.push({ code: "emptyFile", message: "The file has no rows" })
  if (refused > 0) {
    const message = [
      ...(rows > 0 ? [`${counted(rows, "row")} cannot be written`] : []),
      ...(kept > 0 ? [`${counted(kept, "record")} cannot be deleted`] : []),
      ...(unreadable === undefined ? [] : [`nothing is deleted, because the key of row ${unreadable} cannot be read`])
    ].join("; ")
    guards.push({ code: "refusedRows", message })
  }
  if (deletions * 100 > records * maxDeletes) {
    const message = `${deletions} of ${counted(records, "record")} would be deleted, which is more than ${maxDeletes} percent`
    guards.push({ code: "tooManyDeletes", message })
  }
  return guards
}
