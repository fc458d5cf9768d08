import { feature } from "topojson-client"
import countries from "world-atlas/countries-50m.json"

/** A ring that crosses the date line goes on beyond 180 degrees, and not back around the world. */
const unwrapped = (ring: ReadonlyArray<ReadonlyArray<number>>): Array<Array<number>> => {
  let turns = 0
  return ring.map(([longitude = 0, latitude = 0], index) => {
    const step = longitude - (ring[index - 1]?.[0] ?? longitude)
    if (Math.abs(step) > 180) turns -= Math.sign(step)
    return [longitude + 360 * turns, latitude]
  })
}

const topology = countries as unknown as Parameters<typeof feature>[0]

const whole = feature(topology, topology.objects["countries"]!)

/** The countries of the world, from Natural Earth. */
export const land = "features" in whole ? whole.features : [whole]

for (const { geometry } of land) {
  if (geometry.type === "Polygon") geometry.coordinates = geometry.coordinates.map(unwrapped)
  if (geometry.type === "MultiPolygon")
    geometry.coordinates = geometry.coordinates.map((polygon) => polygon.map(unwrapped))
}
