/** How many of `many` random cases a run tries: a tenth of them in `npm run test:quick`. */
export const runs = (many: number): number => (process.env["TEST_RUNS"] === "few" ? Math.ceil(many / 10) : many)

/** The seed of properties. A failure reports it, and TEST_SEED sets another one. */
const seed = Number(process.env["TEST_SEED"] ?? 20_261_121)

/** The options of a property: the same values in every run. */
export const property = (many = 100, size?: number) => ({
  arbitrary: { seed, runs: runs(many), ...(size === undefined ? {} : { size }) }
})
