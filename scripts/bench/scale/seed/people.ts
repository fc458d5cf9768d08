import type { Sql, TransactionSql } from "postgres"
import { pick } from "../../../../test/support/Databases.ts"
import type { Step } from "./step.ts"

const firstNames = "Anna Bram Daan Eva Fleur Gijs Hanna Iris Jan Kees Lotte Mees Noor Olaf Pim Roos Sem Tess Vera Wout"
const lastNames =
  "Bakker Berg Boer Dekker Dijk Graaf Jansen Kok Meijer Mulder Peters Smit Visser Vries Vos Willems Wit Zee"

/** Users; the row number makes usernames and email addresses unique. */
export const seedUsers: Step = (sql, { users }) =>
  seeded(sql, (sql) =>
    sql.unsafe(
      `insert into users (uuid, username, email, first_name, last_name, status, role, language_code, country_code, phone,
      external_id, last_login_at, created_at, edited_at)
    select uuidv7(age), lower(first) || '.' || lower(last) || i, lower(last) || i || '@example.com',
      case when i % 10 > 0 then first end, case when i % 20 > 0 then last end,
      (array['active', 'active', 'active', 'suspended', 'pending'])[1 + i % 5],
      case when i % 100 = 0 then 'ROLE_ADMIN' when i % 10 = 0 then 'ROLE_MANAGER' else 'ROLE_USER' end,
      (array['nl', 'en', 'de'])[1 + i % 3], case when i % 4 > 0 then (array['NL', 'BE', 'DE'])[1 + i % 3] end,
      case when i % 2 = 0 then '+31 6 ' || (10000000 + i) end, case when i % 2 = 0 then 'EXT-' || lpad(i::text, 8, '0') end,
      case when i % 3 > 0 then now() + age / 2 end, now() + age, now() + age
    from (select i, ${pick(firstNames.split(" "))} as first, ${pick(lastNames.split(" "))} as last,
      (i - $1 - 1) * interval '10 seconds' as age from generate_series(1, $1::int) i) seeds`,
      [users]
    )
  )

/** Runs an insert in a transaction with a fixed random seed, so that every run inserts the same rows. */
const seeded = (sql: Sql, insert: (sql: TransactionSql) => Promise<unknown>) =>
  sql.begin(async (sql) => {
    await sql`select setseed(0.42)`
    await insert(sql)
  })

/**
 * Groups: every user is in the first one and in one other, every tenth location is in the second one, and every location is
 * in one other. A user belongs to three locations.
 */
export const seedGroups: Step = (sql, { groups, locations }) =>
  sql.begin(async (sql) => {
    await sql`insert into groups (uuid, name, description, external_id, created_at, edited_at)
      select uuidv7(age), 'Region ' || i || ' ' || left(md5(i::text), 6), case when i % 2 = 0 then 'Formula ' || i % 7 end,
        case when i % 3 = 0 then 'GRP-' || i end, now() + age, now() + age
      from generate_series(1, ${groups}::int) i, lateral (select (i - ${groups}::int - 1) * interval '1 hour' as age) ages`
    for (const table of ["users", "locations", "groups"]) await number(sql, table)
    await sql`insert into user_groups (user_uuid, group_uuid)
      select u.uuid, g.uuid from numbered_users u cross join lateral (values (1), (1 + (u.number * 7919) % ${groups}::int)) wanted (number)
      join numbered_groups g on g.number = wanted.number on conflict do nothing`
    await sql`insert into group_locations (location_uuid, group_uuid)
      select l.uuid, g.uuid from numbered_locations l
      cross join lateral (values (case when l.number % 10 = 0 then 2 end), (1 + (l.number * 7919) % ${groups}::int)) wanted (number)
      join numbered_groups g on g.number = wanted.number on conflict do nothing`
    await sql`insert into user_locations (user_uuid, location_uuid)
      select u.uuid, l.uuid from numbered_users u cross join lateral (values (1 + (u.number * 7919) % ${locations}::int),
        (1 + (u.number * 104729 + 1) % ${locations}::int), (1 + u.number % 10)) wanted (number)
      join numbered_locations l on l.number = wanted.number on conflict do nothing`
  })

/** Creates a temporary table that numbers the rows of a table in their order, for joins by number. */
export const number = async (sql: TransactionSql, table: string): Promise<void> => {
  await sql.unsafe(`create temp table numbered_${table} on commit drop as
    select uuid, row_number() over (order by created_at, uuid) as number from ${table}`)
  await sql.unsafe(`create index on numbered_${table} (number)`)
  await sql.unsafe(`analyze numbered_${table}`)
}
