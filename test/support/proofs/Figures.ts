import type { TestContext } from "vitest"

/** The figures measured by a proof, for the table of `npm run prove`. */
export type Figures = Readonly<Record<string, number | string>>

const shown = (value: number | string) =>
  typeof value === "string" ? value : value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 })

/** Reports measurements. Call it before the assertions, so that the table shows by how much a promise was broken. */
export const report = (context: Pick<TestContext, "annotate">, figures: Figures) =>
  context.annotate(
    Object.entries(figures)
      .map(([name, value]) => `${name} ${shown(value)}`)
      .join(", "),
    "figures"
  )
