import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { compile, matches } from "../../../../src/domain/assets/metaTags/MetaTagPattern.ts"
import { cpuMillis } from "../../../support/CpuTime.ts"

describe("meta tag patterns", () => {
  it.each([
    ["[A-Z]{2}-[0-9]+", "NL-12", true],
    ["[A-Z]{2}-[0-9]+", "NL-12 ", false],
    ["[A-Z]{2}-[0-9]+", "xNL-12", false],
    ["a|ab", "ab", true],
    [".", "🥐", true],
    [".", "a\nb", false],
    ["(?s)a.b", "a\nb", true],
    ["(?i)é+", "ÉÉ", true],
    ["\\p{L}+", "Ελλάς", true],
    ["^a$", "a", true],
    ["(", "(", false]
  ] as const)("the pattern %s matches the whole of %j: %s", (pattern, text, expected) =>
    assert.strictEqual(matches(pattern, text), expected)
  )

  it.each(["(", "[a", "a{2,1}", "(?=a)b", "(?<!a)b", "(a)\\1", "*", "a{1001}"])(
    "the invalid pattern %s is rejected with a reason",
    (pattern) => {
      const compiled = compile(pattern)
      assert.match(Result.isFailure(compiled) ? compiled.failure : "", /^Expected an RE2 expression; error parsing/)
    }
  )

  it.each(["(.{1,500}){1,2}", "([a-z]{1,30}[0-9]{1,30}){1,30}", "(?:a?){900}"])(
    "the pattern %s is too complex",
    (pattern) => assert.isTrue(Result.isFailure(compile(pattern)))
  )

  it.each(["(a+)+$", "(a|aa)*b", "(a*)*b", "(.*a){20}c", "(.*){1,60}x", "([a-z]{1,20}){1,20}1"])(
    "the pattern %s matches in linear time",
    (pattern) => {
      const text = "a".repeat(10_000)
      const started = cpuMillis()
      assert.strictEqual(matches(pattern, text), pattern === "(a+)+$")
      assert.isBelow(cpuMillis() - started, 2000)
    }
  )
})
