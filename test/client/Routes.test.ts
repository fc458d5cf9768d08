import { assert, describe, it } from "@effect/vitest"
import { routes } from "../../src/client/promise/Routes.ts"
import * as Definition from "../support/contract/Routes.ts"

describe("routes of the promise client", () => {
  it("the promise client requests every operation as the definition has it; `node scripts/routes.ts` writes them", () => {
    assert.deepStrictEqual<unknown>(routes, Definition.routes())
  })
})
