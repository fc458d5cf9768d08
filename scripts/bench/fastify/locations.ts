import { randomUUID } from "node:crypto"
import postgres, { type Sql } from "postgres"
import { ServiceError } from "./errors.ts"
import { conditionsOf, updateOf } from "./sql.ts"

export interface ListRequest {
  readonly limit: number
  readonly page: number
  readonly sortBy: string
  readonly sortOrder: "asc" | "desc"
  readonly filter?: string
}

export type Body = Readonly<Record<string, unknown>>

/** The measured locations have no media, so this service does not read any. */
const noMedia = { items: [] }

const columns = `uuid, name, identifier, postal_codes as "postalCodes", address, legal, invoice, contact, coordinates,
  locale, other, translation_labels as "translationLabels", created_at as "createdAt", edited_at as "editedAt"`

const sortKeys: Readonly<Record<string, string>> = {
  createdAt: "created_at",
  editedAt: "edited_at",
  name: 'name collate "und-x-icu"',
  identifier: 'identifier collate "und-x-icu"'
}

/** fast-json-stringify omits members that are undefined, but not those that are null. */
const toLocation = (row: Record<string, unknown>) => ({
  uuid: row["uuid"],
  name: row["name"],
  identifier: row["identifier"],
  postalCodes: row["postalCodes"],
  address: row["address"] ?? undefined,
  legal: row["legal"] ?? undefined,
  invoice: row["invoice"] ?? undefined,
  contact: row["contact"] ?? undefined,
  coordinates: row["coordinates"] ?? undefined,
  locale: row["locale"] ?? undefined,
  other: row["other"] ?? undefined,
  media: noMedia,
  translationLabels: row["translationLabels"],
  createdAt: row["createdAt"],
  editedAt: row["editedAt"]
})

/** A time-ordered UUID; `randomUUID` takes its random bits from a buffer it fills in advance. */
const uuidV7 = () => {
  const time = Date.now().toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

const notFound = (uuid: string) => new ServiceError(404, "LocationNotFoundError", `No location has the uuid ${uuid}`)

/** The service's errors for the constraints of the table. */
const errorOf = (error: unknown) => {
  if (!(error instanceof postgres.PostgresError)) return error
  if (error.constraint_name === "locations_identifier_key") {
    return new ServiceError(400, "DuplicateIdentifierError", "Another record already has this identifier")
  }
  return error.constraint_name === "locations_coordinates_complete"
    ? new ServiceError(400, "InvalidRequestError", "latitude and longitude must both be set or both be absent")
    : error
}

const similarSql = `returning (select other.identifier from locations other
  where waypost_fold(other.identifier) = waypost_fold(locations.identifier) and other.uuid <> locations.uuid limit 1) as similar`

const prepare = { prepare: true }

export const makeLocations = (sql: Sql, isEquipped: boolean) => {
  const get = async (uuid: string) => {
    const rows = await sql.unsafe(`select ${columns} from locations where uuid = $1`, [uuid], prepare)
    if (rows.length === 0) throw notFound(uuid)
    return { _tag: "Success", data: toLocation(rows[0]!) }
  }

  const listAll = async ({ limit, page, sortBy, sortOrder }: ListRequest) => {
    const order = `${sortKeys[sortBy]} ${sortOrder}, uuid ${sortOrder}`
    const [rows, totals] = await Promise.all([
      sql.unsafe(
        `select ${columns} from locations order by ${order} limit $1 offset $2`,
        [limit, (page - 1) * limit],
        prepare
      ),
      sql.unsafe("select count(*)::int as total from locations", [], { prepare: true, simple: false } as never)
    ])
    return { rows: rows.map(toLocation), total: Number(totals[0]!["total"]) }
  }

  // Hits are materialized before they are sorted: with sort and limit in one step, PostgreSQL sometimes scans the whole
  // index of names instead. The statement can stay prepared, and one scan gives the count and the page.
  const filteredSql = ({ sortBy, sortOrder }: ListRequest, where: string, limit: string, offset: string) => {
    return `with hits as materialized (select * from locations where ${where})
      select ${columns}, (select count(*)::int from hits) as total from hits
      order by ${sortKeys[sortBy]} ${sortOrder}, uuid ${sortOrder} limit ${limit} offset ${offset}`
  }

  const listFiltered = async (request: ListRequest) => {
    const { values, where } = conditionsOf(request.filter!)
    const text = filteredSql(request, where, `$${values.length + 1}`, `$${values.length + 2}`)
    const { limit, page } = request
    const rows = await sql.unsafe(text, [...values, limit, (page - 1) * limit], prepare)
    // A page after the last one has no row that contains the total.
    const total = rows.length > 0 || page === 1 ? Number(rows[0]?.["total"] ?? 0) : await countOf(where, values)
    return { rows: rows.map(toLocation), total }
  }

  const countOf = async (where: string, values: ReadonlyArray<string>) => {
    const [row] = await sql.unsafe(`select count(*)::int as total from locations where ${where}`, [...values], prepare)
    return Number(row!["total"])
  }

  const list = async (request: ListRequest) => {
    const { rows, total } = await (request.filter === undefined ? listAll(request) : listFiltered(request))
    const { limit, page } = request
    const pagination = { limit, page, total, pageCount: Math.ceil(total / limit) }
    return { _tag: "Success", data: rows, pagination }
  }

  const insert = async (on: Pick<Sql, "unsafe">, body: Body) => {
    const uuid = uuidV7()
    const { address, contact, coordinates, identifier, invoice, legal, locale, name, other, postalCodes } = body
    const nested = [address, legal, invoice, contact, coordinates].map((value) => value ?? null)
    const [row] = await on
      .unsafe<Array<{ readonly similar?: string | null }>>(
        `insert into locations (uuid, name, identifier, postal_codes, address, legal, invoice, contact, coordinates,
          locale, other)
        values ($1, $2, $3, $4, ${[5, 6, 7, 8, 9].map((n) => `nullif(jsonb_strip_nulls($${n}), '{}')`).join(", ")},
          $10, nullif(jsonb_strip_nulls($11), '{}')) ${isEquipped ? similarSql : ""}`,
        [uuid, name, identifier, postalCodes ?? [], ...nested, locale ?? null, other ?? null] as never,
        prepare
      )
      .catch((error: unknown) => {
        throw errorOf(error)
      })
    return { _tag: "Success", data: { uuid }, similar: row?.similar ?? undefined }
  }

  const create = (body: Body) => insert(sql, body)

  /** A statement for each location, in one transaction, as Directus creates the items of an array. */
  const createAll = (bodies: ReadonlyArray<Body>) =>
    sql.begin(async (transaction) => {
      const data: Array<{ readonly uuid: string }> = []
      for (const body of bodies) data.push((await insert(transaction, body)).data)
      return { _tag: "Success", data }
    })

  const update = async (uuid: string, body: Body) => {
    const statement = updateOf(uuid, body)
    if (statement !== undefined) {
      const { count } = await sql.unsafe(statement.text, statement.values as never, prepare).catch((error: unknown) => {
        throw errorOf(error)
      })
      if (count > 0) return { _tag: "Success", data: { uuid } }
    }
    // Nothing was written: the patch changes nothing, or the location does not exist.
    const found = await sql.unsafe("select 1 from locations where uuid = $1", [uuid], prepare)
    if (found.length === 0) throw notFound(uuid)
    return { _tag: "Success", data: { uuid } }
  }

  return { get, list, create, createAll, update }
}
