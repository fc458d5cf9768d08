import iconv from "iconv-lite"

/** A branch as a spreadsheet of a Dutch office has it. */
interface Branch {
  readonly number: string
  readonly name: string
  readonly city: string
  readonly country: string
  readonly phone: string
  readonly latitude: number
  readonly longitude: number
}

const places = [
  ["’s-Hertogenbosch", "Nederland", "073 123 45 67", 51.6992, 5.3042],
  ["Sint-Gillis-Waas", "België", "03 123 45 67", 51.2194, 4.1237],
  ["Köln", "Duitsland", "0221 1234567", 50.9333, 6.95],
  ["Liège", "België", "04 123 45 67", 50.6337, 5.5675],
  ["Oberseifersdorf", "Duitsland", "03583 123456", 50.9406, 14.8103]
] as const

export const total = 300
export const changed = 90
export const gone = 15

const branch = (index: number): Branch => {
  const [city, country, phone, latitude, longitude] = places[index % places.length]!
  // Every twentieth number is that of the branch before, as a mistake in the office.
  const number = index % 20 === 19 ? index - 1 : index
  return {
    number: `F${String(number).padStart(5, "0")}`,
    name: index % 43 === 7 ? "" : `Bäckerei „De Vries” ${index}, € 1`,
    city,
    country,
    phone,
    latitude,
    longitude
  }
}

const titles = ["Filiaalnummer", "Filiaalnaam", "Plaats", "Land", "Telefoon", "Breedtegraad", "Lengtegraad"]

export const map = [
  "Filiaalnummer=identifier",
  "Filiaalnaam=name",
  "Plaats=address.city",
  "Land=address.countryCode",
  "Telefoon=contact.phone",
  "Breedtegraad=coordinates.latitude",
  "Lengtegraad=coordinates.longitude"
].join(",")

const comma = (value: number) => String(value).replace(".", ",")

const quoted = (cell: string) => (/[";\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** The file as Excel saves it: semicolons, Windows-1252, decimal commas. */
const saved = (branches: ReadonlyArray<Branch>) => {
  const rows = branches.map((one) => [
    one.number,
    one.name,
    one.city,
    one.country,
    one.phone,
    comma(one.latitude),
    comma(one.longitude)
  ])
  return iconv.encode([titles, ...rows].map((cells) => `${cells.map(quoted).join(";")}\r\n`).join(""), "windows-1252")
}

const all = Array.from({ length: total }, (_, index) => branch(index))

const isRepeated = (one: Branch, index: number) => all.findIndex(({ number }) => number === one.number) < index

/** The rows of the first file that are imported. */
export const accepted = all.filter((one, index) => one.name !== "" && !isRepeated(one, index))

export const first = saved(all)

/** The same branches a month later: 90 have another name, 15 are gone; numbers are correct and every branch has a name. */
export const second = saved(
  accepted.slice(gone).map((one, index) => (index < changed ? { ...one, name: `${one.name} (nieuw)` } : one))
)
