import assert from "node:assert/strict"
import { randomOf } from "../../../test/support/Random.ts"
import { answerOf, type Case, type Side } from "./cases.ts"

/** At most this many are within an area; there are a few less, because their number is not that of the area alone. */
const most = 10_000
const held = 9500

const metresPerDegree = 111_195

/** Places well within the part of the country that has branches. */
const centres = () => {
  const random = randomOf(42)
  return Array.from({ length: 16 }, () => ({ latitude: 51.4 + random() * 1.2, longitude: 4.6 + random() * 1.8 }))
}

/** Searches of places, the areas such that 9,500 locations are in each, or a tenth of a small table. */
export const placeCases = async (side: Side): Promise<ReadonlyArray<Case>> => {
  const wanted = Math.min(held, side.size / 10)
  const areas: Array<Readonly<Record<"near" | "radius" | "bounds", string>>> = []
  for (const { latitude, longitude } of centres()) {
    const near = `${latitude.toFixed(6)},${longitude.toFixed(6)}`
    const farthest = `/v1/locations?near=${near}&fields=distanceMetres&limit=1&total=false&page=${wanted}`
    const [found] = (await answerOf(side, farthest)).data as ReadonlyArray<{ readonly distanceMetres: number }>
    // A square of the same area.
    const half = (found!.distanceMetres * Math.sqrt(Math.PI)) / 2 / metresPerDegree
    const across = half / Math.cos((latitude * Math.PI) / 180)
    const bounds = [latitude - half, longitude - across, latitude + half, longitude + across].map((degrees) =>
      degrees.toFixed(6)
    )
    areas.push({ near, radius: `${found!.distanceMetres}m`, bounds: bounds.join(",") })
  }
  const within = areas.map(({ near, radius }) => `/v1/locations?near=${near}&radius=${radius}`)
  const bounded = areas.map(({ bounds }) => `/v1/locations?bounds=${bounds}`)
  for (const path of [...within, ...bounded]) {
    const { total } = (await answerOf(side, path)).pagination
    assert.ok(total > wanted / 2 && total <= most, `${path} holds ${total}`)
  }
  return [
    { kind: "place", name: "near, within a radius, counted", paths: within, atMost: 15 },
    {
      kind: "place",
      name: "near, total=false",
      paths: areas.map(({ near }) => `/v1/locations?near=${near}&total=false`),
      atMost: 5
    },
    { kind: "place", name: "within bounds, counted", paths: bounded, atMost: 15 }
  ]
}
