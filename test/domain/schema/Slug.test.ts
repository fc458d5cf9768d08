import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Exit, Schema } from "effect"
import { Slug, slugOf } from "../../../src/domain/schema/Slug.ts"
import { property } from "../../support/Runs.ts"

const isSlug = (value: unknown) => Exit.isSuccess(Schema.decodeUnknownExit(Slug)(value))

describe("slugs", () => {
  it.each([
    ["Spring campaign 2026", "spring-campaign-2026"],
    ["  Café – Noir!  ", "cafe-noir"],
    ["Straße & Ærø, Łódź", "strasse-aero-lodz"],
    ["İstanbul ırmak", "istanbul-irmak"],
    ["100% off: ½ price", "100-off-1-2-price"],
    ["ﬁne x²", "fine-x2"],
    ["--a__b--", "a-b"]
  ])("the title %s has the slug %s", (title, slug) => assert.strictEqual(slugOf(title), slug))

  it("a title without Latin letters and digits has no slug", () => {
    for (const title of ["文化", "🥐", "!?", "Οδός"]) assert.isUndefined(slugOf(title))
  })

  it("a slug has lower-case letters, digits and single hyphens between them, at most 150", () => {
    for (const good of ["a", "1", "a-b", "a-1-b", "a".repeat(150)]) assert.isTrue(isSlug(good), good)
    for (const bad of ["", "-a", "a-", "a--b", "A", "a b", "é", "a_b", "a/b", "a\n", "a".repeat(151), null, 1]) {
      assert.isFalse(isSlug(bad), String(bad))
    }
  })

  it.prop(
    "slugOf returns a valid slug with room for a number, for any title",
    [Arbitrary.schema(Schema.String)],
    ([title]) => {
      const slug = slugOf(`${title} ${title}`.repeat(20))
      if (slug !== undefined) assert.isTrue(isSlug(`${slug}-12345678`), slug)
    },
    property()
  )
})
