import { assert, describe, it } from "@effect/vitest"
import { nodesOfSuite } from "../support/Nodes.ts"
import { reservationOf } from "../support/requests/ProductRequests.ts"

const copies = 3
const requestsOfNode = 15
const rounds = 5

describe("reservations on two nodes", () => {
  // Without the settings of the service a session has no time limits: on a busy machine the last one may wait for its lock for seconds.
  const node = { DATABASE_PREPARE: "false" }
  const { nodes } = nodesOfSuite([node, node])

  it("of concurrent reservations on two nodes as many succeed as there are copies", async () => {
    const first = nodes[0]!
    const location = await first.create("/v1/locations", { name: "Branch", identifier: "B1" })
    for (let round = 0; round < rounds; round++) {
      const product = await first.create("/v1/products", { type: "default", name: "Tent", identifier: `T${round}` })
      await first.call("PUT", `/v1/products/${product}/modules/reservations`, { unit: "hour", quantity: copies })
      const answers = await Promise.all(
        nodes.flatMap(({ call }) =>
          Array.from({ length: requestsOfNode }, (_, index) =>
            call("POST", `/v1/products/${product}/reservations`, reservationOf(location, 10 - (index % 5), 20))
          )
        )
      )
      const outcomes = answers.map(({ body, status }) => `${status} ${body._tag} ${body.issues?.[0].code ?? ""}`.trim())
      const tally = Object.fromEntries(
        [...Map.groupBy(outcomes, (one) => one)].map(([name, all]) => [name, all.length])
      )
      assert.deepStrictEqual(tally, {
        "201 Success": copies,
        "400 InvalidRequestError noCopyFree": nodes.length * requestsOfNode - copies
      })
      const { body } = await first.call("GET", `/v1/products/${product}/modules/reservations`)
      assert.lengthOf(body.data.upcoming, copies)
    }
  })
})
