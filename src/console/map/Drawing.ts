import * as Leaflet from "leaflet"
import Supercluster from "supercluster"
import "leaflet/dist/leaflet.css"

/** A location with a place on the map. */
export interface Place {
  readonly uuid: string
  readonly name: string
  readonly latitude: number
  readonly longitude: number
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Opens a map, without land as yet. */
export const open = (element: HTMLElement, pick: (place: string) => void): Leaflet.Map => {
  const map = Leaflet.map(element, {
    preferCanvas: true,
    zoomControl: false,
    minZoom: 2,
    maxZoom: 17,
    worldCopyJump: true,
    attributionControl: true
  }).setView([50, 10], 4)
  map.attributionControl.setPrefix(false).addAttribution("Natural Earth")
  map.on("click", ({ latlng }) => pick(`${latlng.lat.toFixed(5)},${latlng.wrap().lng.toFixed(5)}`))
  return map
}

/** Adds the buttons that zoom a map; returns how to take them away. */
export const addZoom = (map: Leaflet.Map, zoomInTitle: string, zoomOutTitle: string) => {
  const control = Leaflet.control.zoom({ zoomInTitle, zoomOutTitle }).addTo(map)
  return () => void control.remove()
}

/** Draws the countries of the world, which take longer than what is in them. */
export const drawLand = async (map: Leaflet.Map, isWanted: () => boolean) => {
  const { land } = await import("./Land.ts")
  if (!isWanted()) return
  Leaflet.geoJSON(land, {
    interactive: false,
    style: () => ({ color: colour("--line-strong"), weight: 1, fillColor: colour("--land"), fillOpacity: 1 })
  })
    .addTo(map)
    .bringToBack()
}

const sizeOf = (count: number) => Math.min(28, 10 + Math.log2(count) * 1.6)

/** A name as text: Leaflet takes a string for HTML. */
const nameOf = (place: Place) => {
  const name = document.createElement("span")
  name.textContent = place.name
  return name
}

const linkTo = (place: Place, show: (place: Place) => void) => {
  const link = document.createElement("a")
  link.href = `/console/locations/${place.uuid}`
  link.textContent = place.name
  link.addEventListener("click", (event) => {
    // The browser opens it in another tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    show(place)
  })
  return link
}

/** Shows places in clusters that open as the map is zoomed; returns how to take them away. */
export const showPlaces = (
  map: Leaflet.Map,
  places: ReadonlyArray<Place>,
  {
    clusterName,
    isFitted,
    show
  }: {
    readonly clusterName: (count: number) => string
    /** Whether the map shows what it should already. */
    readonly isFitted: boolean
    /** Shows the record of a place. */
    readonly show: (place: Place) => void
  }
) => {
  const index = new Supercluster<Place>({ radius: 60, maxZoom: 15 }).load(
    places.map((place) => ({
      type: "Feature",
      properties: place,
      geometry: { type: "Point", coordinates: [place.longitude, place.latitude] }
    }))
  )
  const layer = Leaflet.layerGroup().addTo(map)
  const accent = colour("--accent")
  const draw = () => {
    const bounds = map.getBounds()
    layer.clearLayers()
    const shown = index.getClusters(
      [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()],
      Math.round(map.getZoom())
    )
    for (const { geometry, properties } of shown) {
      const [longitude = 0, latitude = 0] = geometry.coordinates
      const count = "cluster" in properties ? properties.point_count : 1
      const marker = Leaflet.circleMarker([latitude, longitude], {
        radius: count === 1 ? 6 : sizeOf(count),
        color: accent,
        weight: 1,
        fillColor: accent,
        fillOpacity: count === 1 ? 0.9 : 0.55,
        bubblingMouseEvents: false
      })
      if ("cluster" in properties) {
        marker.bindTooltip(clusterName(count))
        marker.on("click", () =>
          map.setView([latitude, longitude], index.getClusterExpansionZoom(properties.cluster_id))
        )
      } else {
        marker.bindTooltip(nameOf(properties))
        // A popup of the map stays when the markers are drawn again, for example because the map moves to have room for it.
        marker.on("click", () => map.openPopup(linkTo(properties, show), [latitude, longitude]))
      }
      layer.addLayer(marker)
    }
  }
  if (places.length > 0 && !isFitted) {
    map.fitBounds(Leaflet.latLngBounds(places.map(({ latitude, longitude }) => [latitude, longitude])), {
      maxZoom: 12,
      animate: false
    })
  }
  draw()
  map.on("moveend", draw)
  return () => {
    map.off("moveend", draw)
    layer.remove()
  }
}

/** Shows the circle around a place; returns how to take it away. */
export const showNear = (map: Leaflet.Map, near: string, kilometres: number) => {
  const [latitude, longitude] = near.split(",").map(Number)
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude)) return undefined
  const circle = Leaflet.circle([latitude!, longitude!], {
    radius: kilometres * 1000,
    color: colour("--accent"),
    weight: 2,
    fillOpacity: 0.1,
    interactive: false
  }).addTo(map)
  map.fitBounds(circle.getBounds(), { animate: false })
  return () => void circle.remove()
}
