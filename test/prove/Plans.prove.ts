import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as Service from "../support/Service.ts"

const row = (number: number, name: string) => ({
  name,
  identifier: `P-${number}`,
  postalCodes: ["3511 AB"],
  address: { addressLine1: "Oudegracht 158", city: "Utrecht", countryCode: "NL", zipcode: "3511 AZ" },
  contact: { phone: "+31301234567", email: "info@example.com" },
  coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
  locale: "nl-NL"
})

const file = (rows: number, name: (number: number) => string) =>
  Array.from({ length: rows }, (_, number) => JSON.stringify(row(number, name(number)))).join("\n")

/** The most memory that a process had, in MiB. */
const peakOf = (pid: number) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const none = { create: 0, update: 0, unchanged: 0, delete: 0, refused: 0 }

const plans = (service: Service.Service) => ({
  make: async (text: string) => {
    const began = performance.now()
    const headers = { "content-type": "application/x-ndjson" }
    const { body: json } = await service.call("POST", "/v1/plans?resource=locations", text, headers)
    return { uuid: json.data.uuid as string, counts: json.data.counts, millis: performance.now() - began }
  },
  apply: async (uuid: string) => {
    const began = performance.now()
    const answer = await service.call("POST", `/v1/plans/${uuid}/apply`, {})
    return { status: answer.status, millis: performance.now() - began }
  }
})

describe("plans of large files", () => {
  it("25,000 rows are planned in 4 s and applied in 6 s, created and changed; the same file then changes nothing", async (ctx) => {
    await using service = await Service.start()
    const { apply, make } = plans(service)
    const figures: Record<string, number> = {}
    for (const [kind, name] of [
      ["create", "Bakkerij De Vries"],
      ["update", "Renamed"]
    ] as const) {
      const text = file(25_000, () => name)
      const plan = await make(text)
      assert.deepStrictEqual(plan.counts, { ...none, [kind]: 25_000 })
      const applied = await apply(plan.uuid)
      assert.strictEqual(applied.status, 200)
      const again = await make(text)
      assert.deepStrictEqual(again.counts, { ...none, unchanged: 25_000 })
      figures[`${kind} planned ms`] = Math.round(plan.millis)
      figures[`${kind} applied ms`] = Math.round(applied.millis)
      figures[`${kind} planned again ms`] = Math.round(again.millis)
    }
    await report(ctx, figures)
    for (const [name, millis] of Object.entries(figures)) {
      assert.isAtMost(millis, name.includes("applied") ? 6000 : 4000, name)
    }
  }, 120_000)

  it("100,000 rows are planned and applied with 1 GB of memory", async (ctx) => {
    await using service = await Service.start()
    const { apply, make } = plans(service)
    const plan = await make(file(100_000, (number) => `Branch ${number}`))
    assert.deepStrictEqual(plan.counts, { ...none, create: 100_000 })
    assert.strictEqual((await apply(plan.uuid)).status, 200)
    const peak = peakOf(service.pid)
    await report(ctx, { rows: 100_000, "peak MiB": Math.round(peak) })
    assert.isAtMost(peak, 1000)
  }, 180_000)
})
