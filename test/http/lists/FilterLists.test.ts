import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answered, matches } from "../../support/filters/FilterOracle.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"

/** Texts that look like the separators of a serialised list. */
const texts = [
  "a",
  "b, c",
  '"',
  '"a"',
  "[x]",
  "x]",
  "], [",
  ",",
  "\\",
  "a\\nb",
  "C:\\n",
  "ΣΑΣ",
  "σας",
  "100%_",
  "Été",
  "🥐"
]
const descriptions = ["one\ntwo", "n", 'say "hi", or', "a\tb", "u0001"]
const pieces = [
  '", "',
  '"',
  ",",
  ", ",
  "[",
  "]",
  "]]",
  "n",
  "\\",
  "\\n",
  "\n",
  "\t",
  " ",
  "c",
  "B,",
  "x]",
  "i",
  "σ",
  "%",
  "é",
  "u00",
  ""
]
const operators = ["equals", "contains", "startsWith", "endsWith"] as const

const quoted = (value: string) => `"${value.replaceAll(/[\\"]/g, "\\$&")}"`
const found = (filter: string) =>
  Effect.map(send("GET", `/v1/assets?limit=500&filter=${encodeURIComponent(filter)}`), ({ body, status, text }) => {
    assert.strictEqual(status, 200, `${filter}: ${text}`)
    return (body.data as ReadonlyArray<Answered>).map(({ uuid }) => uuid).toSorted()
  })

layer(TestServer.layer(), { excludeTestServices: true })("Filters on texts in lists", (it) => {
  it.effect("a filter on a list matches single texts and never spans the separators", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(texts, (text, index) =>
        createAsset({
          translations: [
            { locale: "en", name: text, description: descriptions[index % descriptions.length] },
            { locale: "nl", name: texts[(index * 7 + 3) % texts.length] }
          ]
        })
      )
      const { body } = yield* send("GET", "/v1/assets?limit=500")
      let decisive = 0
      for (const field of ["translations.name", "translations.description"]) {
        for (const operator of operators) {
          for (const value of [...texts, ...pieces]) {
            const expected = (body.data as ReadonlyArray<Answered>)
              .filter((asset) => matches(asset, [{ field, kind: "string", operator, value }]))
              .map(({ uuid }) => uuid)
            if (expected.length > 0 && expected.length < texts.length) decisive++
            assert.deepStrictEqual(
              yield* found(`${field}:${operator}:${quoted(value)}`),
              expected.toSorted(),
              `${field} ${operator} ${JSON.stringify(value)}`
            )
          }
        }
      }
      assert.isAbove(decisive, 100)
    })
  )
})
