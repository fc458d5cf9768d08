import type { TestContext } from "vitest"

/** The figures a proof measured, for the table of `npm run prove`. */
export type Figures = Readonly<Record<string, number | string>>

const shown = (value: number | string) =>
  typeof value === "string" ? value : value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 })

/** Tells what was measured; call it before the assertions, so that a promise that was broken shows by how much. */
export const report = (context: Pick<TestContext, "annotate">, figures: Figures) =>
  context.annotate(
    Object.entries(figures)
      .map(([name, value]) => `${name} ${shown(value)}`)
      .join(", "),
    "figures"
  )
