import { assert, describe, it } from "@effect/vitest"
import type { Answer, Service } from "../support/Service.ts"
import { report } from "../support/proofs/Figures.ts"
import { nodesOfSuite } from "../support/Nodes.ts"
import { brokenOf } from "../support/proofs/BrokenInvariants.ts"

const writers = 25
const rounds = 10

describe("concurrent writes on two nodes", () => {
  const { installation, nodes } = nodesOfSuite([{}, {}])

  const fromBoth = <A>(send: (node: Service, index: number) => Promise<A>) =>
    Promise.all(
      nodes.flatMap((node, which) => Array.from({ length: writers }, (_, n) => send(node, which * writers + n)))
    )

  const tally = (answers: ReadonlyArray<Answer>) => ({
    created: answers.filter(({ status }) => status < 300).length,
    rejected: answers.filter(({ body, status }) => status === 400 && body._tag === "DuplicateIdentifierError").length,
    other: answers.filter(({ body, status }) => status >= 300 && body._tag !== "DuplicateIdentifierError")
  })

  for (const [kind, fields] of [
    ["locations", { name: "Twice" }],
    ["products", { name: "Twice", type: "default" }]
  ] as const) {
    it(`of concurrent creates of ${kind} with one identifier exactly one succeeds`, async (context) => {
      const path = `/v1/${kind}`
      const results = []
      for (let round = 0; round < rounds; round++) {
        const body = { ...fields, identifier: `twice-${round}` }
        results.push(tally(await fromBoth(({ call }) => call("POST", path, body))))
      }
      await report(context, { [`${kind} created`]: results.map(({ created }) => created).join(" ") })
      for (const result of results) assert.deepStrictEqual(result, { created: 1, rejected: 2 * writers - 1, other: [] })
    })

    it(`of concurrent patches of ${kind} to one identifier exactly one succeeds`, async () => {
      const path = `/v1/${kind}`
      const uuids: Array<string> = []
      for (let index = 0; index < 2 * writers; index++) {
        const { body, status } = await nodes[0]!.call("POST", path, { ...fields, identifier: `own-${index}` })
        assert.strictEqual(status, 201, JSON.stringify(body))
        uuids.push(body.data.uuid)
      }
      for (let round = 0; round < rounds; round++) {
        const body = { identifier: `wanted-${round}` }
        const answers = await fromBoth(({ call }, index) => call("PATCH", `${path}/${uuids[index]}`, body))
        assert.deepStrictEqual(tally(answers), { created: 1, rejected: 2 * writers - 1, other: [] })
      }
    })
  }

  it("concurrent writes on two nodes violate no invariant", async (context) =>
    assert.deepStrictEqual(await brokenOf(context, (statement) => installation().sql.unsafe(statement)), []))
})
