import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"
import { until } from "../../support/Until.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const create = async (identifier: string, ...set: ReadonlyArray<string>) => {
  const fields = [`name=Branch ${identifier}`, `identifier=${identifier}`, ...set]
  const { code, err } = await waypost(["create", "locations", ...fields.flatMap((field) => ["--set", field])], env)
  assert.strictEqual(code, 0, err)
}

describe("waypost quality locations", () => {
  it("lists the locations, the worst first, within a minute of their writes, and counts those that break each rule", async () => {
    await create("Q-1", "contact.phone=+31302310000", "contact.email=q1@example.com")
    await create("Q-2")
    const { err, out } = await until("both are listed", async () => {
      const printed = await waypost(["quality", "locations"], env)
      assert.strictEqual(printed.code, 0, printed.err)
      if (JSON.parse(printed.out).length === 2) return printed
      // The job that assesses locations runs every few seconds.
      return sleep(200, undefined)
    })
    const rows = JSON.parse(out)
    const rules = "missingAddress missingCoordinates missingInvoice missingPostalCodes missingLogo"
    assert.deepStrictEqual(
      rows.map(({ identifier, rules, score }: Readonly<Record<string, unknown>>) => [identifier, score, rules]),
      [
        ["Q-2", 46, `missingPhone missingEmail ${rules}`],
        ["Q-1", 62, rules]
      ]
    )
    assert.deepStrictEqual(rows[1].issues[0], {
      path: "address",
      rule: "missingAddress",
      message: "The address has no street or no city"
    })
    assert.include(err, "missingLogo 2")
    assert.include(err, "missingPhone 1")
  })

  it("the quality of locations is filtered, and printed as CSV", async () => {
    const args = [
      "quality",
      "locations",
      "--filter",
      "issues.rule:equals:missingPhone",
      "--csv",
      "--fields",
      "identifier,score"
    ]
    const { code, err, out } = await waypost(args, env)
    assert.deepStrictEqual([code, out.trim().split(/\r?\n/)], [0, ["identifier,score", "Q-2,46"]], err)
  })
})
