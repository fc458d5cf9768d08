/** `npm run test:quick` tries a tenth of the random cases; a number as TEST_RUNS, such as 10, tries as many times more. */
const factor = { few: 0.1, many: 1 }[process.env["TEST_RUNS"] ?? "many"] ?? Number(process.env["TEST_RUNS"])

/** How many random cases a run tries, where a default run tries `many`. */
export const runs = (many: number): number => Math.ceil(many * factor)

/** The seed of properties. A failure reports it, and TEST_SEED sets another one. */
const seed = Number(process.env["TEST_SEED"] ?? 20_261_121)

/** The options of a property: the same values in every run. */
export const property = (many = 100, size?: number) => ({
  arbitrary: { seed, runs: runs(many), ...(size === undefined ? {} : { size }) }
})
