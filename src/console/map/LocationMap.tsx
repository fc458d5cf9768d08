import { experimental_streamedQuery as streamedQuery, useQuery } from "@tanstack/react-query"
import type { Map as LeafletMap } from "leaflet"
import { useEffect, useMemo, useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { Failure } from "../shell/Failure.tsx"
import { Loaded } from "../shell/Loaded.tsx"
import { useAddress } from "../data/Addresses.ts"
import { useTyped } from "../data/Typed.ts"
import { call, labelOf, type Page, uuidOf, valueAt } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useWords } from "../words/Words.tsx"
import { addZoom, drawLand, open, type Place, showNear, showPlaces } from "./Drawing.ts"

const maxNear = 50

/** The records of a page that have a place on the map. */
const placesIn = ({ data }: Page): ReadonlyArray<Place> =>
  data.flatMap((record) => {
    const [latitude, longitude] = [valueAt(record, "coordinates.latitude"), valueAt(record, "coordinates.longitude")]
    if (typeof latitude !== "number" || typeof longitude !== "number") return []
    return [{ uuid: uuidOf(record), name: labelOf(record, "name"), latitude, longitude }]
  })

/** Answers that arrive at once would keep the browser from drawing the first. */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))

/** How many pages the second part of the map has; each part after it has twice as many, since all before are drawn again. */
const pagesOfPart = 6

/**
 * Every location of the view that has coordinates: the first page at once, the others as they arrive. The browser reads as many
 * pages at a time as it has connections.
 */
const usePlaces = (filter: string | undefined, openAt: string | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["places", filter, openAt],
    staleTime: 60_000,
    queryFn: streamedQuery<ReadonlyArray<Place>, ReadonlyArray<Place>>({
      refetchMode: "replace",
      initialValue: [],
      reducer: (places, more) => [...places, ...more],
      streamFn: async function* ({ signal }) {
        const read = (page: number) =>
          call<Page>(
            client,
            { group: "locations", name: "list" },
            { filter, openAt, page, limit: maxLimit, fields: ["uuid", "name", "coordinates"], total: page === 1 },
            { signal }
          )
        const first = await read(1)
        yield placesIn(first)
        await painted()
        const pages = Math.ceil((first.pagination.total ?? 0) / maxLimit)
        const others = Array.from({ length: Math.max(0, pages - 1) }, (_, index) => read(index + 2))
        for (let [begin, size] = [0, pagesOfPart]; begin < others.length; begin += size, size *= 2) {
          yield (await Promise.all(others.slice(begin, begin + size))).flatMap(placesIn)
        }
      }
    })
  })
}

const Nearest = ({
  filter,
  near,
  openAt,
  radius
}: {
  readonly near: string
  readonly radius: number
  readonly filter: string | undefined
  readonly openAt: string | undefined
}) => {
  const words = useWords()
  const formats = useFormats()
  const { client } = useSession()
  const nearest = useQuery({
    queryKey: ["near", near, radius, filter, openAt],
    queryFn: ({ signal }) =>
      call<Page>(
        client,
        { group: "locations", name: "list" },
        {
          near,
          radius: `${radius.toString()}km`,
          filter,
          openAt,
          limit: maxNear,
          sortBy: "distance",
          sortOrder: "asc"
        },
        { signal }
      )
  })
  return (
    <Loaded query={nearest}>
      {({ data, pagination }) => (
        <>
          <p role="status">
            {words.inRadius(formats.number(pagination.total ?? data.length), words.kilometres(formats.number(radius)))}
          </p>
          <ol className="nearest">
            {data.map((record) => (
              <li key={uuidOf(record)}>
                <Link href={`/locations/${uuidOf(record)}`}>{labelOf(record, "name")}</Link>{" "}
                <span className="hint">
                  {words.kilometres(formats.number(Math.round(Number(record["distanceMetres"]) / 100) / 10))}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Loaded>
  )
}

const radii = [1, 2, 5, 10, 25, 50, 100]
const defaultRadius = 10

/** The locations of a view on a map, in clusters, and those near a place. Nothing of the map comes from elsewhere. */
const LocationMap = () => {
  const words = useWords()
  const formats = useFormats()
  const address = useAddress()
  const filter = address.get("filter")
  const openAt = address.get("openAt")
  const near = address.get("near")
  const radius = Number(address.get("radius") ?? defaultRadius)
  const { data: places, error, refetch } = usePlaces(filter, openAt)
  const element = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<LeafletMap>()
  const [typed, setTyped] = useTyped(near ?? "")
  const applyTyped = () => {
    const next = typed.replaceAll(" ", "")
    if (next !== (near ?? "")) address.set({ near: next })
  }
  const [, go] = useLocation()
  const { set } = address
  const pick = useRef(set)
  pick.current = set
  useEffect(() => {
    const opened = open(element.current!, (place) => pick.current({ near: place }))
    setMap(opened)
    return () => void opened.remove()
  }, [])
  const { zoomIn, zoomOut } = words
  useEffect(() => (map === undefined ? undefined : addZoom(map, zoomIn, zoomOut)), [map, zoomIn, zoomOut])
  // The first places decide what is shown; those that arrive later do not move the map.
  const isFitted = useRef(near !== undefined)
  const names = useMemo(() => ({ cluster: (count: number) => words.cluster(formats.number(count)) }), [formats, words])
  useEffect(() => {
    if (map === undefined || places === undefined) return
    const show = ({ uuid }: Place) => go(`/locations/${uuid}`)
    const hide = showPlaces(map, places, { clusterName: names.cluster, isFitted: isFitted.current, show })
    isFitted.current ||= places.length > 0
    return hide
  }, [go, map, places, names])
  const hasPlaces = places !== undefined
  useEffect(() => {
    if (map === undefined || !hasPlaces) return undefined
    const drawing = { isWanted: true }
    void drawLand(map, () => drawing.isWanted)
    return () => {
      drawing.isWanted = false
    }
  }, [map, hasPlaces])
  useEffect(
    () => (map === undefined || near === undefined ? undefined : showNear(map, near, radius)),
    [map, near, radius]
  )
  return (
    <div className="map-page">
      {error === null ? null : <Failure error={error} retry={() => void refetch()} />}
      <p className="count" role="status">
        {places === undefined
          ? error === null && words.loading
          : `${words.total(formats.number(places.length))}. ${words.withoutCoordinates}`}
      </p>
      <div className="map" ref={element} role="application" aria-label={words.map} data-places={places?.length} />
      <section className="near" aria-labelledby="near">
        <h2 id="near">{words.near}</h2>
        <label>
          {words.near}
          <input
            value={typed}
            placeholder="52.09,5.12"
            onChange={(event) => setTyped(event.target.value)}
            onBlur={applyTyped}
            onKeyDown={(event) => event.key === "Enter" && applyTyped()}
          />
        </label>
        <label>
          {words.radius}
          <select value={radius} onChange={(event) => address.set({ radius: event.target.value })}>
            {radii.map((one) => (
              <option key={one} value={one}>
                {words.kilometres(formats.number(one))}
              </option>
            ))}
          </select>
        </label>
        {near === undefined ? (
          <p className="hint">{words.nearHint}</p>
        ) : (
          <Nearest near={near} radius={radius} filter={filter} openAt={openAt} />
        )}
      </section>
    </div>
  )
}

export default LocationMap
