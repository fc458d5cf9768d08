import { Effect } from "effect"
import { Permission } from "../../../src/domain/keys/Permission.ts"
import { send, unique } from "../requests/Requests.ts"
import { TestServer } from "../TestServer.ts"
import { ask, type Made, on, type Prepared } from "./Calls.ts"

const branch = () => ({ identifier: unique("planned"), name: "Branch" })

/** A plan of a key that has no others: a key has at most ten. */
const planOf = (rows: ReadonlyArray<object>): Made<string> =>
  Effect.gen(function* () {
    const { key } = yield* TestServer
    const { body } = yield* send("POST", "/v1/plans?resource=locations", {
      body: rows,
      key: yield* key(Permission.literals)
    })
    return body.data.uuid
  })

const plan = Effect.suspend(() => planOf([branch()]))

/** A plan that creates a record which exists since. */
const outdated = Effect.suspend(() => {
  const row = branch()
  return Effect.tap(planOf([row]), () => send("POST", "/v1/locations", { body: row }))
})

/** A call of every operation on plans, and of each of their errors. */
export const planCalls: Readonly<Record<string, Prepared>> = {
  "plans.create": Effect.sync(() => ({ query: "?resource=locations", body: [branch()] })),
  "plans.create InvalidFilterError": Effect.succeed({ query: "?resource=locations&filter=nonsense", body: [] }),
  "plans.get": on(plan),
  "plans.get PlanNotFoundError": ask(),
  "plans.changes": on(plan),
  "plans.changes PlanNotFoundError": ask(),
  "plans.apply": on(plan, {}),
  "plans.apply PlanNotFoundError": Effect.succeed({ body: {} }),
  "plans.apply PlanOutdatedError": on(outdated, {}),
  "plans.apply PlanGuardedError": on(
    Effect.suspend(() => planOf([])),
    {}
  ),
  "plans.delete": on(plan),
  "plans.delete PlanNotFoundError": ask()
}
