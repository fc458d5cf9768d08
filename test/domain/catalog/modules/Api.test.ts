import { assert, describe, it } from "@effect/vitest"
import { long, many, outcome, rejects, stores, acceptsInt } from "./outcome.ts"

describe("the api module", () => {
  it("the api module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("api", {}), {
      provider: "custom",
      method: "POST",
      trigger: "orderApproved",
      headerNames: [],
      fieldMapping: [],
      timeoutSeconds: 10
    }))

  it("the api module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "api",
        {},
        {
          provider: long(50),
          externalId: long(255),
          endpoint: "https://example.com/a",
          method: "PUT",
          trigger: "manual"
        },
        {
          headerNames: ["X-Order", "a"],
          fieldMapping: many(100, () => ({ source: "location.identifier", target: "a" }))
        },
        [{ externalId: null, endpoint: null, lastCall: null, headerNames: null }, {}],
        [{ lastCall: { at: "2026-01-31T09:30:00.000Z", status: "ok", httpStatus: 200 } }, {}],
        [{ lastCall: { at: "yesterday" } }, {}]
      )
    )
    assert.deepStrictEqual(...acceptsInt("api", {}, "timeoutSeconds", [1, 60]))
  })

  it("the api module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "api",
        {},
        [{ provider: "" }, "provider tooShort"],
        [{ provider: long(51) }, "provider tooLong"],
        [{ provider: null }, "provider wrongType"],
        [{ externalId: long(256) }, "externalId tooLong"],
        [{ endpoint: "http://example.com" }, "endpoint invalidFormat"],
        [{ method: "GET" }, "method notAllowed"],
        [{ trigger: "never" }, "trigger notAllowed"],
        [{ headerNames: ["X Order"] }, "headerNames.0 invalidFormat"],
        [{ headerNames: ["X-Order: secret"] }, "headerNames.0 invalidFormat"],
        [{ fieldMapping: many(101, () => ({ source: "a", target: "b" })) }, "fieldMapping tooMany"],
        [{ fieldMapping: [{ source: ".a", target: "b" }] }, "fieldMapping.0.source invalidFormat"],
        [{ fieldMapping: [{ source: "a" }] }, "fieldMapping.0.target required"]
      )
    ))
})
