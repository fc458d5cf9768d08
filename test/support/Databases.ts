import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import postgres, { type Sql } from "postgres"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"

/** A separate PostgreSQL server with the durability settings of production. */
export interface Database extends AsyncDisposable {
  /** The data folder for Waypost, which uses the server that already runs in it. */
  readonly folder: string
  readonly socket: string
  readonly username: string
  readonly sql: Sql
}

export const start = async (folder: string): Promise<Database> => {
  const scope = Scope.makeUnsafe()
  const server = await Effect.runPromise(
    EmbeddedPostgres.start({ dataDir: join(folder, "postgres") }).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.provide(NodeServices.layer)
    )
  )
  const sql = postgres({ path: server.socket, username: server.username, database: server.database, max: 2 })
  const [durable] = await sql`select current_setting('fsync') || current_setting('synchronous_commit') as settings`
  if (durable?.["settings"] !== "onon") throw new Error("The database is not durable; writes would seem too fast")
  return {
    folder,
    socket: server.socket,
    username: server.username,
    sql,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 5 })
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** The number of rows per brand, which is the number of matches of a selective filter. */
export const hits = 20

/** A unique word of seven letters per number. */
const brandSql = `initcap(translate(substr(md5('brand' || (i % greatest($1 / ${hits}, 1))), 1, 7),
  '0123456789abcdef', 'aeioubdfgklmnprs'))`

/** SQL that picks a random word. */
export const pick = (list: ReadonlyArray<string>): string =>
  `(array[${list.map((word) => `'${word}'`).join(", ")}])[1 + floor(random() * ${list.length})::int]`

const kinds = ["Bakkerij", "Slagerij", "Boekhandel", "Apotheek", "Opticien", "Fietsenwinkel", "Tuincentrum", "Drogist"]
const cities =
  "Amsterdam Rotterdam Utrecht Eindhoven Groningen Tilburg Almere Breda Nijmegen Arnhem Haarlem Enschede Zwolle"
const streets = "Oudegracht Kerkstraat Dorpsstraat Stationsweg Molenweg Hoofdstraat Schoolstraat Julianalaan Marktplein"

/** Inserts realistic branches. A fixed seed gives the same rows in every run. */
export const seed = async (sql: Sql, size: number): Promise<void> => {
  await sql.begin(async (sql) => {
    await sql`select setseed(0.42)`
    await sql.unsafe(
      `insert into locations (uuid, name, identifier, postal_codes, address, legal, invoice, contact, coordinates,
        locale, other, created_at, edited_at)
      select uuidv7(age), kind || ' ' || brand || ' ' || city, 'BR-' || lpad(i::text, 8, '0'),
        array[(1000 + i % 9000) || ' AB', (1000 + i * 7 % 9000) || ' CD'],
        jsonb_build_object('addressLine1', street || ' ' || (1 + i % 240), 'city', city,
          'countryCode', 'NL', 'zipcode', (1000 + i % 9000) || ' AB'),
        case when i % 4 = 0 then jsonb_build_object('address', jsonb_build_object('city', city, 'countryCode', 'NL')) end,
        case when i % 3 = 0 then jsonb_build_object('name', brand || ' BV', 'email', 'invoice' || i || '@example.com') end,
        jsonb_build_object('email', 'branch' || i || '@example.com', 'website', 'https://example.com/branches/' || i,
          'phone', '+31 30 ' || (1000000 + i), 'firstName', 'Branch manager'),
        jsonb_build_object('latitude', round((51 + random() * 2)::numeric, 6),
          'longitude', round((4 + random() * 3)::numeric, 6)),
        (array['nl-NL', 'nl-BE', 'en-GB'])[1 + i % 3],
        jsonb_build_object('extraDna1', 'Open from 9 to 18', 'extraDna2', 'Region ' || (i % 12)),
        now() + age, now() + age
      from (
        select i, ${brandSql} as brand, ${pick(kinds)} as kind, ${pick(cities.split(" "))} as city,
          ${pick(streets.split(" "))} as street, (i - $1 - 1) * interval '1 second' as age
        from generate_series(1, $1::int) i
      ) seeds`,
      [size]
    )
  })
  await sql`vacuum (analyze) locations`
  await sql`vacuum (analyze) row_counts`
  await sql`checkpoint`
}

/** Brands to filter by, of rows spread over the table. */
export const brands = async (sql: Sql, size: number): Promise<ReadonlyArray<string>> => {
  const rows = await sql.unsafe<Array<{ readonly brand: string }>>(
    `select ${brandSql} as brand from generate_series(0, greatest($1 / ${hits}, 1) - 1, greatest($1 / ${hits} / 50, 1)) i`,
    [size]
  )
  return rows.map(({ brand }) => brand)
}

/** Uuids of rows spread over the table, unordered. */
export const uuids = async (sql: Sql, count: number): Promise<ReadonlyArray<string>> => {
  const rows = await sql<Array<{ readonly uuid: string }>>`
    select uuid from locations order by md5(uuid::text) limit ${count}`
  return rows.map(({ uuid }) => uuid)
}
