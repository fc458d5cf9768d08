import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Spaces, hyphens and case do not matter. The codes of locations have Latin letters only, for which "C" knows upper case.
  yield* sql.unsafe(`
    create function waypost_postal_code(code text) returns text language sql immutable strict parallel safe
    return upper(translate(code, ' -', '') collate "C")`)

  // Whether a code is one of the `waypost_containing_codes` of another one.
  yield* sql.unsafe(`
    create function waypost_contains_code(country text, containing text, code text) returns boolean
    language sql immutable parallel safe
    return case when country <> 'GB' then length(containing) > 1 and starts_with(code, containing)
      else containing = code or containing = substring(code from '^([A-Z]{1,2}[0-9][A-Z0-9]?)[0-9][A-Z]{2}$')
        or containing = substring(code from '^[A-Z]{1,2}') end`)

  // The postal codes of every location, with the country of its address, which is empty where there is none. A trigger
  // keeps them, instead of a foreign key, which would need a second index and a lookup for each code.
  yield* sql`
    create table location_postal_codes (
      code text not null collate "C",
      country_code text not null collate "C",
      location_uuid uuid not null,
      primary key (code, country_code, location_uuid)
    )`
  yield* sql`
    insert into location_postal_codes (code, country_code, location_uuid)
      select distinct waypost_postal_code(code), coalesce(t.country_code, ''), t.uuid
      from locations t, unnest(t.postal_codes) code`

  const removed = `
    delete from location_postal_codes c using old_rows t, unnest(t.postal_codes) listed
    where c.code = waypost_postal_code(listed) and c.country_code = coalesce(t.country_code, '') and c.location_uuid = t.uuid`
  const added = `
    insert into location_postal_codes (code, country_code, location_uuid)
      select distinct waypost_postal_code(listed), coalesce(t.country_code, ''), t.uuid
      from new_rows t, unnest(t.postal_codes) listed`
  const trigger = (name: string, when: string, body: string) =>
    Effect.andThen(
      // A session may have planned the statements when the table was empty.
      sql.unsafe(`create function waypost_${name}() returns trigger language plpgsql set enable_seqscan = off as $$
        begin ${body}; return null; end $$`),
      sql.unsafe(`create trigger ${name} after ${when} execute function waypost_${name}()`)
    )
  yield* trigger("add_postal_codes", "insert on locations referencing new table as new_rows for each statement", added)
  yield* trigger(
    "remove_postal_codes",
    "delete on locations referencing old table as old_rows for each statement",
    removed
  )
  yield* trigger("clear_postal_codes", "truncate on locations for each statement", "truncate location_postal_codes")
  // Most updates leave the codes unchanged: the condition is checked without calling the function.
  yield* trigger(
    "replace_postal_codes",
    `update on locations for each row when (old.postal_codes is distinct from new.postal_codes
      or old.country_code is distinct from new.country_code)`,
    `with old_rows as (select old.uuid, old.postal_codes, old.country_code) ${removed};
    with new_rows as (select new.uuid, new.postal_codes, new.country_code) ${added}`
  )

  // Serves a code that no location lists.
  yield* sql`create index locations_zipcode on locations (waypost_postal_code(address->>'zipcode') collate "C")`
})
