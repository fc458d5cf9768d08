import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../src/domain/schema/Json.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { resolve } from "../../../../src/domain/write/References.ts"
import { long, many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"

const managers = { type: "locationManagers" }
const step = (fields: object = {}) => ({ name: "Marketing", approvers: managers, ...fields })
const minimal = { steps: [step()] }
const users = (count: number) => ({ type: "users", uuids: many(count, uuid) })

describe("the workflow module", () => {
  it("the workflow module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("workflow", minimal), {
      workflowUuid: uuid(1),
      trigger: "onOrder",
      steps: [
        {
          uuid: uuid(2),
          position: 0,
          name: "Marketing",
          approvers: { type: "locationManagers", uuids: [] },
          requiredApprovals: 1,
          onReject: "stop"
        }
      ],
      allowSelfApproval: false,
      notifyRequester: true
    }))

  it("the workflow module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "workflow",
        minimal,
        { name: long(150), trigger: "onPublish", autoApproveBelow: { amountMinor: 1, currency: "EUR" } },
        { allowSelfApproval: true, notifyRequester: false }
      )
    )
    const full = {
      ...step({ uuid: uuid(9), position: 4, dueInHours: 8, escalateTo: uuid(8), onReject: "back" }),
      approvers: users(2),
      requiredApprovals: 2
    }
    assert.deepInclude(outcome("workflow", { steps: [full] }) as object, { steps: [full] })
    assert.notInstanceOf(outcome("workflow", { steps: many(10, () => step()) }), Array)
    const role = { type: "role", role: "ROLE_MANAGER" }
    assert.notInstanceOf(outcome("workflow", { steps: [step({ approvers: role })] }), Array)
    const around = (requiredApprovals: unknown) => ({ steps: [step({ requiredApprovals })] })
    assert.deepStrictEqual(...acceptsInt("workflow", {}, "requiredApprovals", [1, 1000], around))
  })

  it("the workflow module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "workflow",
        minimal,
        [{ steps: undefined }, "steps wrongType"],
        [{ steps: [] }, "steps tooFew"],
        [{ steps: null }, "steps wrongType"],
        [{ steps: many(11, () => step()) }, "steps tooMany"],
        [{ steps: [step({ uuid: uuid(1) }), step({ uuid: uuid(1) })] }, "steps.1.uuid duplicate"],
        [{ steps: [step({ name: "" })] }, "steps.0.name tooShort"],
        [{ name: long(151) }, "name tooLong"],
        [{ steps: [step({ approvers: { type: "groups" } })] }, "steps.0.approvers.uuids required"],
        [{ steps: [step({ approvers: { type: "role" } })] }, "steps.0.approvers.role required"],
        [{ steps: [step({ approvers: { ...managers, uuids: [uuid(1)] } })] }, "steps.0.approvers.uuids notAllowed"],
        [
          { steps: [step({ approvers: { type: "role", role: "ROLE_MANAGER", uuids: [uuid(1)] } })] },
          "steps.0.approvers.uuids notAllowed"
        ],
        [{ steps: [step({ approvers: { type: "role", role: "ROLE_X" } })] }, "steps.0.approvers.role notAllowed"],
        [{ steps: [step({ approvers: users(1), requiredApprovals: 2 })] }, "steps.0.approvers.uuids tooFew"],
        [{ steps: [step({ escalateTo: "unknown" })] }, "steps.0.escalateTo invalidFormat"]
      )
    ))

  it("the workflow module returns only approvers that exist", () => {
    const settings = outcome("workflow", { steps: [step({ approvers: users(3), escalateTo: uuid(0) })] })
    const lookup = (_: string, id: string) => (id === uuid(2) ? {} : undefined)
    const { steps } = resolve(moduleOf("workflow"), settings as Json, lookup) as { readonly steps: ReadonlyArray<any> }
    assert.deepStrictEqual(steps[0].approvers.uuids, [uuid(2)])
    assert.notProperty(steps[0], "escalateTo")
  })
})
