import { readFileSync } from "node:fs"

/** The codes of ISO 3166-1, of two letters and of three digits: the outlines have the digits. */
const codes =
  "AD020 AE784 AF004 AG028 AI660 AL008 AM051 AO024 AQ010 AR032 AS016 AT040 AU036 AW533 AX248 AZ031 BA070 BB052 " +
  "BD050 BE056 BF854 BG100 BH048 BI108 BJ204 BL652 BM060 BN096 BO068 BQ535 BR076 BS044 BT064 BV074 BW072 BY112 " +
  "BZ084 CA124 CC166 CD180 CF140 CG178 CH756 CI384 CK184 CL152 CM120 CN156 CO170 CR188 CU192 CV132 CW531 CX162 " +
  "CY196 CZ203 DE276 DJ262 DK208 DM212 DO214 DZ012 EC218 EE233 EG818 EH732 ER232 ES724 ET231 FI246 FJ242 FK238 " +
  "FM583 FO234 FR250 GA266 GB826 GD308 GE268 GF254 GG831 GH288 GI292 GL304 GM270 GN324 GP312 GQ226 GR300 GS239 " +
  "GT320 GU316 GW624 GY328 HK344 HM334 HN340 HR191 HT332 HU348 ID360 IE372 IL376 IM833 IN356 IO086 IQ368 IR364 " +
  "IS352 IT380 JE832 JM388 JO400 JP392 KE404 KG417 KH116 KI296 KM174 KN659 KP408 KR410 KW414 KY136 KZ398 LA418 " +
  "LB422 LC662 LI438 LK144 LR430 LS426 LT440 LU442 LV428 LY434 MA504 MC492 MD498 ME499 MF663 MG450 MH584 MK807 " +
  "ML466 MM104 MN496 MO446 MP580 MQ474 MR478 MS500 MT470 MU480 MV462 MW454 MX484 MY458 MZ508 NA516 NC540 NE562 " +
  "NF574 NG566 NI558 NL528 NO578 NP524 NR520 NU570 NZ554 OM512 PA591 PE604 PF258 PG598 PH608 PK586 PL616 PM666 " +
  "PN612 PR630 PS275 PT620 PW585 PY600 QA634 RE638 RO642 RS688 RU643 RW646 SA682 SB090 SC690 SD729 SE752 SG702 " +
  "SH654 SI705 SJ744 SK703 SL694 SM674 SN686 SO706 SR740 SS728 ST678 SV222 SX534 SY760 SZ748 TC796 TD148 TF260 " +
  "TG768 TH764 TJ762 TK772 TL626 TM795 TN788 TO776 TR792 TT780 TV798 TW158 TZ834 UA804 UG800 UM581 US840 UY858 " +
  "UZ860 VA336 VC670 VE862 VG092 VI850 VN704 VU548 WF876 WS882 YE887 YT175 ZA710 ZM894 ZW716"

type Point = readonly [longitude: number, latitude: number]

/** The numbers of the arcs of a ring. */
type ArcsOfRing = ReadonlyArray<number>

interface Geometry {
  readonly type: string
  readonly id?: string
  /** Of a polygon its rings, of several polygons the rings of each. */
  readonly arcs?: ReadonlyArray<ArcsOfRing | ReadonlyArray<ArcsOfRing>>
}

/** TopoJSON: each arc has its first point and then differences, in whole numbers. */
interface Topology {
  readonly transform: { readonly scale: Point; readonly translate: Point }
  readonly arcs: ReadonlyArray<ReadonlyArray<Point>>
  readonly objects: { readonly countries: { readonly geometries: ReadonlyArray<Geometry> } }
}

interface Ring {
  readonly points: ReadonlyArray<Point>
  readonly south: number
  readonly north: number
  readonly west: number
  readonly east: number
}

/** The rings of a country; a point within it is in an odd number of them. */
type Outline = ReadonlyArray<Ring>

const ringOf = (points: ReadonlyArray<Point>): Ring => {
  const [longitudes, latitudes] = [points.map(([longitude]) => longitude), points.map(([, latitude]) => latitude)]
  return {
    points,
    south: Math.min(...latitudes),
    north: Math.max(...latitudes),
    west: Math.min(...longitudes),
    east: Math.max(...longitudes)
  }
}

const isRing = (part: ArcsOfRing | ReadonlyArray<ArcsOfRing>): part is ArcsOfRing => typeof part[0] === "number"

const load = (): ReadonlyMap<string, Outline> => {
  const { arcs, objects, transform }: Topology = JSON.parse(
    readFileSync(new URL(import.meta.resolve("world-atlas/countries-50m.json")), "utf8")
  )
  const [scale, translate] = [transform.scale, transform.translate]
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx, dy]): Point => {
      x += dx
      y += dy
      return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
    })
  })
  const lineOf = (arc: number) => (arc < 0 ? lines[~arc]!.toReversed() : lines[arc]!)
  const byNumber = new Map<string, Array<Ring>>()
  for (const { arcs = [], id } of objects.countries.geometries) {
    if (id === undefined) continue
    const rings = arcs.flatMap((part) => (isRing(part) ? [part] : part))
    const outline = rings.map((ring) => ringOf(ring.flatMap(lineOf)))
    byNumber.set(id, [...(byNumber.get(id) ?? []), ...outline])
  }
  const known = codes.split(" ").map((code) => [code.slice(0, 2), byNumber.get(code.slice(2)) ?? []] as const)
  return new Map(known.filter(([, outline]) => outline.length > 0))
}

let outlines: ReadonlyMap<string, Outline> | undefined

/** Whether a ring is crossed an odd number of times on the way north. */
const isWithin = ({ points }: Ring, [x, y]: Point): boolean => {
  let within = false
  for (let index = 0, last = points.length - 1; index < points.length; last = index++) {
    const [[ax, ay], [bx, by]] = [points[index]!, points[last]!]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within
  }
  return within
}

const kilometresOfDegree = 111.195

/** The distance from a point to a ring in kilometres, on the plane that touches the point: exact enough for tens of them. */
const distanceTo = ({ points }: Ring, [x, y]: Point): number => {
  const shrink = Math.cos((y * Math.PI) / 180)
  let nearest = Infinity
  for (let index = 1; index < points.length; index++) {
    const [[ax, ay], [bx, by]] = [points[index - 1]!, points[index]!]
    const [px, py, dx, dy] = [(x - ax) * shrink, y - ay, (bx - ax) * shrink, by - ay]
    const length = dx * dx + dy * dy
    const along = length === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / length))
    nearest = Math.min(nearest, Math.hypot(px - along * dx, py - along * dy))
  }
  return nearest * kilometresOfDegree
}

/** Whether a box around a ring, wider by a distance in kilometres, has the point. */
const isNear = ({ east, north, south, west }: Ring, [x, y]: Point, kilometres: number): boolean => {
  const degrees = kilometres / kilometresOfDegree
  const wide = degrees / Math.max(0.01, Math.cos((Math.min(89, Math.abs(y) + degrees) * Math.PI) / 180))
  return y >= south - degrees && y <= north + degrees && x >= west - wide && x <= east + wide
}

/**
 * Whether a point is more than some kilometres outside the outline of a country: Natural Earth, 1:50m. A country without an
 * outline has every point. The outlines are read when they are first needed.
 */
export const isOutside = (country: string, [longitude, latitude]: Point, kilometres: number): boolean => {
  const outline = (outlines ??= load()).get(country)
  if (outline === undefined) return false
  // An outline that crosses the date line is cut there.
  const places = [longitude, longitude - 360, longitude + 360].map((x): Point => [x, latitude])
  if (outline.filter((ring) => isWithin(ring, [longitude, latitude])).length % 2 === 1) return false
  return !places.some((place) =>
    outline.some((ring) => isNear(ring, place, kilometres) && distanceTo(ring, place) <= kilometres)
  )
}
