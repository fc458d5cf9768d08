import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answered, matches, write } from "../support/filters/FilterOracle.ts"
import * as FilterSamples from "../support/filters/FilterSamples.ts"
import * as Wire from "../support/wire/Wire.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Collections from "./FilterCollections.ts"
import * as InvalidFilters from "./InvalidFilters.ts"

const seed = Number(process.env["FILTER_SEED"] ?? 20_261_121)
const kinds = Object.keys(Collections.lists) as ReadonlyArray<keyof typeof Collections.lists>
const wanted = 20_000

/** Fields without a single type cannot be filtered. */
const withoutType = ["metaTags.value"]

interface Question {
  readonly kind: (typeof kinds)[number]
  readonly filter: string
  /** The matching records; undefined when the filter is invalid. */
  readonly expected: ReadonlyArray<string> | undefined
}

/** Filters over the records of a kind; every tenth is invalid. */
const questions = function* (samples: FilterSamples.Samples, kind: Question["kind"], records: ReadonlyArray<Answered>) {
  const filters = samples.filters(records, withoutType)
  const invalid = InvalidFilters.make(samples, filters.fields)
  for (let index = 0; index < Math.ceil(wanted / kinds.length); index++) {
    const conditions = filters.conditions()
    const filter = write(conditions, samples.random)
    const isTooLong = Array.from(filter).length > 2000
    const expected = () => records.filter((record) => matches(record, conditions)).map(({ uuid }) => uuid)
    yield index % 10 === 9
      ? { kind, filter: invalid(conditions), expected: undefined }
      : { kind, filter, expected: isTooLong ? undefined : expected() }
  }
}

layer(Wire.layer(), { excludeTestServices: true })("filters", (it) => {
  it.effect(
    "20,000 random filters find the records that the reference implementation finds, and invalid ones are rejected",
    (ctx) =>
      Effect.gen(function* () {
        const samples = FilterSamples.make(seed)
        const records = yield* Collections.make(samples)
        const asked = kinds.flatMap((kind) => [...questions(samples, kind, records[kind])])
        const wrong: Array<unknown> = []
        yield* Effect.forEach(
          asked,
          Effect.fnUntraced(function* ({ expected, filter, kind }: Question) {
            const { body, status } = yield* Collections.ask(kind, filter)
            const uuids = (body?.data ?? []) as ReadonlyArray<Answered>
            const isRight =
              expected === undefined
                ? status === 400 && body._tag === "InvalidFilterError" && body.message !== ""
                : status === 200 &&
                  body.pagination.total === expected.length &&
                  uuids
                    .map(({ uuid }) => uuid)
                    .toSorted()
                    .join() === expected.toSorted().join()
            if (!isRight)
              wrong.push({ kind, filter, status, expected, total: body?.pagination?.total, message: body?.message })
          }),
          { concurrency: 8, discard: true }
        )
        const selective = asked.filter(({ expected, kind }) =>
          expected === undefined ? false : expected.length > 0 && expected.length < records[kind].length
        ).length
        const invalid = asked.filter(({ expected }) => expected === undefined).length
        yield* Effect.promise(() =>
          report(ctx, {
            filters: asked.length,
            "finding some and not all": selective,
            invalid,
            wrong: wrong.length,
            seed: String(seed)
          })
        )
        assert.deepStrictEqual(wrong.slice(0, 10), [], `FILTER_SEED=${seed}`)
        assert.isAtLeast(asked.length, wanted)
        assert.isAbove(selective, wanted * 0.4)
      }),
    280_000
  )
})
