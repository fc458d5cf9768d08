import { median, table } from "./report.ts"

/** A line of the report: what was measured, and what in the same run it is compared with. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly comparedWith: string
  readonly other: string
  readonly ratio: string
  /** What was wanted, and whether it is so. */
  readonly target?: string
}

/** The median of the ratios within a round, and their range. */
export const ratioOf = (values: ReadonlyArray<number>, others: ReadonlyArray<number>): string => {
  const ratios = values.map((value, round) => value / others[round]!)
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return `${median(ratios).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
}

export const figuresTable = (figures: ReadonlyArray<Figure>): string =>
  table(
    ["", "Waypost", "compared with", "", "ratio", "target"],
    figures.map(({ comparedWith, name, other, ratio, target = "-", value }) => [
      name,
      value,
      comparedWith,
      other,
      ratio,
      target
    ])
  )
