import assert from "node:assert/strict"
import { answerOf, type Case, type Side } from "./cases.ts"

/** Codes that some location of every size has, without their letters. */
const codes = Array.from({ length: 64 }, (_, index) => 1001 + ((index * 617) % 999))

/** Lookups of postal codes, for each of the reasons why a location serves one, and all conflicts and gaps. */
export const territoryCases = async (side: Side): Promise<ReadonlyArray<Case>> => {
  const resolving = async (match: string, more: string) => {
    const paths = codes.map((code) => `/v1/locations/resolve?postalCode=${code}${more}&countryCode=NL`)
    const data: ReadonlyArray<{ readonly match: string }> = (await answerOf(side, paths[0]!)).data
    assert.equal(data[0]?.match, match, paths[0])
    return { kind: "place", name: `resolve, ${match}`, paths, atMost: 5 } as const
  }
  const territories = "/v1/locations/territories?countryCode=NL"
  return [
    await resolving("exact", "AB"),
    await resolving("address", ""),
    await resolving("nearest", "XX&near=52.0907,5.1214"),
    { kind: "place", name: "territories, conflicts", paths: [`${territories}&kind=conflicts`] },
    { kind: "place", name: "territories, gaps", paths: [`${territories}&kind=gaps&within=1000-9999`] }
  ]
}
