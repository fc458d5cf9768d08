import { assert, describe, it } from "@effect/vitest"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { routes } from "../../src/client/promise/Routes.ts"
import { fieldsOf } from "../../src/domain/query/FilterFields.ts"
import * as Definition from "../support/contract/Routes.ts"

describe("routes of the promise client", () => {
  it("the promise client requests every operation as the definition has it; `node scripts/routes.ts` writes them", () => {
    assert.deepStrictEqual<unknown>(routes, Definition.routes())
  })

  it("every parameter of a path is a uuid, which the promise client checks before it sends a request", () => {
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => {
        const names = Array.from(endpoint.path.matchAll(/:(\w+)/g), ([, name]) => name!)
        const uuids =
          endpoint.params === undefined ? [] : fieldsOf(endpoint.params).filter(({ kind }) => kind === "uuid")
        assert.sameMembers(
          uuids.map(({ path }) => path),
          names,
          endpoint.path
        )
      }
    })
  })
})
