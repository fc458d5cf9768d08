import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { decimal, Email, Phone, text, Timestamp, Uuid, WebUrl } from "../../../src/domain/schema/Fields.ts"
import { decode, compare, kept, notText, rejects } from "../cases.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

describe("text", () => {
  it("text is trimmed and converted to NFC", () => {
    assert.deepStrictEqual(
      ...compare(text(5), [
        ["  ab ", "ab"],
        ["\u00a0ab\u3000\ufeff", "ab"],
        ["e\u0301", "é"],
        ["a  b", "a  b"],
        ["\ta\n", "a"]
      ])
    )
  })

  it("the length of text is counted in code points after normalisation", () => {
    assert.deepStrictEqual(
      ...compare(text(3), [
        ...kept(["a", "abc", "🥐🥐🥐"]),
        ["e\u0301e\u0301e\u0301", "ééé"],
        [" abc ", "abc"],
        ...rejects(["abcd", "🥐🥐🥐🥐", "", "  "])
      ])
    )
    assert.deepStrictEqual(
      ...compare(text(4, { min: 2 }), [...kept(["ab", "abcd"]), ...rejects(["a", "abcde", " a "])])
    )
  })

  it("text rejects control characters and lone surrogates; multiline text accepts newlines and tabs", () => {
    assert.deepStrictEqual(
      ...compare(
        text(9),
        rejects(["a\0b", "a\u0001b", "a\nb", "a\tb", "a\rb", "a\u007fb", "a\u0085b", "a\ud800b", "\udc00"])
      )
    )
    assert.deepStrictEqual(
      ...compare(text(9, { multiline: true }), [
        ...kept(["a\nb", "a\tb"]),
        ...rejects(["a\0b", "a\u001bb", "a\u0085b", "a\ud800"])
      ])
    )
    assert.deepStrictEqual(...compare(text(9), kept(["👩‍🌾", "\u202eab", "%_\\'\""])))
  })

  it("text rejects values other than strings", () => assert.deepStrictEqual(...compare(text(5), rejects(notText))))
})

describe("Uuid", () => {
  it("a uuid of any version is accepted in either case and stored in lower case", () => {
    assert.deepStrictEqual(
      ...compare(Uuid, [
        ...kept([
          uuid,
          "00000000-0000-0000-0000-000000000000",
          "ffffffff-ffff-ffff-ffff-ffffffffffff",
          "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
        ]),
        [uuid.toUpperCase(), uuid]
      ])
    )
  })

  it("a uuid in any other form is rejected", () => {
    assert.deepStrictEqual(
      ...compare(
        Uuid,
        rejects([
          "",
          "abc",
          uuid.slice(1),
          `${uuid}0`,
          `{${uuid}}`,
          uuid.replaceAll("-", ""),
          `urn:uuid:${uuid}`,
          uuid.replace("0", "g"),
          ...notText
        ])
      )
    )
  })
})

describe("Timestamp", () => {
  it.each([
    "2026-01-31T09:30:00.000Z",
    "2024-02-29T23:59:59.999Z",
    "1969-12-31T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z"
  ])("the timestamp %s is decoded and encoded unchanged", (sent) => {
    const instant = decode(Timestamp, sent)
    assert.isTrue(DateTime.isDateTime(instant))
    assert.strictEqual(Schema.encodeUnknownSync(Timestamp)(instant), sent)
  })

  it("a timestamp in any other form or of a nonexistent day is rejected", () => {
    assert.deepStrictEqual(
      ...compare(
        Timestamp,
        rejects([
          "2026-01-31",
          "2026-01-31T09:30:00Z",
          "2026-01-31T09:30:00.0Z",
          "2026-01-31T09:30:00.0000Z",
          "2026-01-31T09:30:00.000",
          "2026-01-31 09:30:00.000Z",
          "2026-01-31T09:30:00.000+00:00",
          "2026-02-30T00:00:00.000Z",
          "2025-02-29T00:00:00.000Z",
          "2026-13-01T00:00:00.000Z",
          "2026-01-31T24:00:00.000Z",
          "2026-01-31T23:60:00.000Z",
          "2026-01-31T23:59:60.000Z",
          "+012026-01-31T09:30:00.000Z",
          "",
          1769851800000,
          ...notText
        ])
      )
    )
  })
})

describe("Email", () => {
  const ofLength = (length: number) => `${"a".repeat(length - "@example.com".length)}@example.com`

  it("an e-mail address has one @, a domain with a dot, at most 254 characters, and keeps its case", () => {
    assert.deepStrictEqual(
      ...compare(Email, [
        ...kept([
          "info@example.com",
          "Info.Desk+NL@Example.CO.UK",
          "a@b.c",
          "o'brien@example.com",
          "jörg@exämple.de",
          ofLength(254)
        ]),
        [" info@example.com ", "info@example.com"],
        ...rejects([
          "",
          "info",
          "info@",
          "@example.com",
          "info@example",
          "a@b@example.com",
          "info@example.",
          "info@.com",
          "info@ex..com",
          "in fo@example.com",
          "info@exa mple.com",
          ofLength(255),
          ...notText
        ])
      ])
    )
  })
})

describe("WebUrl", () => {
  const ofLength = (length: number) => "https://example.com/".padEnd(length, "a")

  it("a web URL is absolute, http or https, and has at most 2,048 characters", () => {
    assert.deepStrictEqual(
      ...compare(WebUrl, [
        ...kept([
          "https://example.com",
          "http://example.com/a?b=c#d",
          "HTTPS://Example.com/",
          "https://127.0.0.1:8080",
          "https://exämple.de/ü",
          "http://[::1]/",
          ofLength(2048)
        ]),
        ...rejects([
          "",
          "example.com",
          "/path",
          "//example.com",
          "ftp://example.com",
          "mailto:a@b.c",
          "javascript:alert(1)",
          "https:",
          "https://",
          "https:///path",
          "http://a:99999",
          "https:example.com",
          " javascript://https://a.b",
          ofLength(2049),
          ...notText
        ])
      ])
    )
  })
})

describe("Phone", () => {
  it("a phone number has 3 to 32 digits, spaces and + ( ) . - /, and is stored unchanged", () => {
    assert.deepStrictEqual(
      ...compare(Phone, [
        ...kept(["112", "+31 30 123 45 67", "(030) 123-45.67/8", "1".repeat(32)]),
        [" 112 ", "112"],
        ...rejects(["", "11", "1".repeat(33), "030 abc", "+31#1", "１１２", "112;", ...notText])
      ])
    )
  })
})

describe("decimal", () => {
  it("a decimal is a finite number within its bounds and precision", () => {
    const latitude = decimal(-90, 90, 7)
    assert.deepStrictEqual(
      ...compare(latitude, [
        ...kept([0, -90, 90, 52.0907374, -0.0000001, 1e-7, 89.9999999]),
        ...rejects([
          90.0000001,
          -90.0000001,
          91,
          52.09073741,
          1e-8,
          Number.NaN,
          Infinity,
          -Infinity,
          1e308,
          "52.1",
          null
        ])
      ])
    )
    assert.deepStrictEqual(...compare(decimal(0, 100, 0), [...kept([0, 100, 7]), ...rejects([0.5, 100.5])]))
  })
})
