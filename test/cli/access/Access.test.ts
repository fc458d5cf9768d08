import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const run = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await waypost(args, env)
  assert.strictEqual(code, 0, err)
  return out
}

describe("waypost access", () => {
  it("explains the access of a user or a location, by their names and those of the product", async () => {
    await run("create", "users", "--set", "username=anna", "--set", "email=anna@example.com")
    await run("create", "locations", "--set", "name=Utrecht", "--set", "identifier=U-1")
    const product = ["name=Poster", "identifier=P-1", "type=default"].flatMap((value) => ["--set", value])
    await run("create", "products", ...product)

    const lines = (await run("access", "--user", "anna", "--product", "P-1")).split("\n")
    assert.strictEqual(lines[0], "deny")
    assert.include(lines, "allow  userState          The user anna has the status active")
    assert.include(lines, "deny   productState       The product Poster has the status draft; set it to published")

    await run("update", "products", "P-1", "--set", "status=published")
    const answer = JSON.parse(await run("access", "--location", "U-1", "--product", "P-1", "--json"))
    assert.deepStrictEqual([answer.decision, answer.actions], ["deny", []])
    assert.deepStrictEqual(
      answer.reasons
        .filter(({ effect }: { readonly effect: string }) => effect === "deny")
        .map(({ code }: { readonly code: string }) => code),
      ["permissionsModule"]
    )
  })

  it("reports names that no record has, and a question that is not complete", async () => {
    const unknown = await waypost(["access", "--user", "nora", "--product", "P-1"], env)
    assert.deepStrictEqual([unknown.code, unknown.err.trim()], [1, 'No record of users has the username "nora"'])
    const incomplete = await waypost(["access", "--user", "anna"], env)
    assert.strictEqual(incomplete.code, 1)
    assert.include(incomplete.err, "InvalidRequestError")
  })
})
