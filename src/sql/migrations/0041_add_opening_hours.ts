import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const create = (declaration: string, body: string) =>
    sql.unsafe(`create function ${declaration} immutable parallel safe ${body}`)

  // Which names there are depends on the server.
  yield* create(
    "waypost_knows_zone(zone text) returns boolean language plpgsql strict",
    `as $$
    begin
      perform timezone(zone, timestamptz 'epoch');
      return true;
    exception when invalid_parameter_value then
      return false;
    end $$`
  )

  // PostgreSQL takes four names for abbreviations, which know no daylight saving time.
  yield* create(
    "waypost_local(instant timestamptz, zone text) returns timestamp language sql strict",
    `return timezone(case zone when 'CET' then 'Europe/Brussels' when 'MET' then 'Europe/Brussels' when 'EET' then 'Europe/Athens'
      when 'WET' then 'Europe/Lisbon' else zone end, instant)`
  )

  yield* create(
    "waypost_minute(clock text) returns int language sql strict",
    `return left(clock, 2)::int * 60 + right(clock, 2)::int`
  )

  // The minutes of the week at which a location is open: first those of periods on the day they begin, then, a week further,
  // those of periods that began on the day before.
  yield* create(
    "waypost_week_minutes(hours jsonb) returns int4multirange language sql strict",
    `begin atomic
      select range_agg(part) from jsonb_array_elements(hours) item,
        lateral (select ((item->>'day')::int - 1) * 1440 as day, waypost_minute(item->>'opens') as opens,
          waypost_minute(item->>'closes') as closes) period,
        lateral (
          select int4range(day + opens, day + case when closes <= opens then 1440 else closes end) as part
          union all select int4range(10080 + (day + 1440) % 10080, 10080 + (day + 1440) % 10080 + closes)
            where closes <= opens and closes > 0
        ) parts;
    end`
  )

  // The same for days with hours of their own, each of which has three parts: the minutes of its periods, those of periods
  // that began on the day before, and a mark of such a day.
  yield* create(
    "waypost_special_minutes(hours jsonb) returns int8multirange language sql strict",
    `begin atomic
      select range_agg(part) from jsonb_array_elements(hours) item,
        lateral (select (left(item->>'date', 10)::date - date '2000-01-01')::bigint as number) day,
        lateral (
          select int8range((number * 3 + 2) * 1440, (number * 3 + 2) * 1440 + 1) as part
          union all
          select own from jsonb_array_elements(item->'periods') period,
            lateral (select waypost_minute(period->>'opens') as opens, waypost_minute(period->>'closes') as closes) times,
            lateral (
              select int8range(number * 3 * 1440 + opens, number * 3 * 1440 + case when closes <= opens then 1440 else closes end) as own
              union all select int8range(((number + 1) * 3 + 1) * 1440, ((number + 1) * 3 + 1) * 1440 + closes)
                where closes <= opens and closes > 0
            ) parts
        ) parts;
    end`
  )

  // A period belongs to the day it begins on: whether that day has hours of its own decides which of its periods count.
  yield* create(
    "waypost_is_open(week int4multirange, special int8multirange, local timestamp) returns boolean language plpgsql",
    `as $$
    declare
      day bigint := local::date - date '2000-01-01';
      minute int := extract(hour from local)::int * 60 + extract(minute from local)::int;
      of_week int := ((day % 7 + 12) % 7)::int * 1440 + minute;
    begin
      return coalesce(case when special @> (day * 3 + 2) * 1440 then special @> day * 3 * 1440 + minute else week @> of_week end, false)
        or coalesce(case when special @> ((day - 1) * 3 + 2) * 1440 then special @> (day * 3 + 1) * 1440 + minute
          else week @> 10080 + of_week end, false);
    end $$`
  )

  yield* sql`
    alter table locations
      add column status text collate "C",
      add column timezone text collate "C",
      add column opening_hours jsonb,
      add column special_hours jsonb,
      add column week_minutes int4multirange generated always as (waypost_week_minutes(opening_hours)) stored,
      add column special_minutes int8multirange generated always as (waypost_special_minutes(special_hours)) stored,
      add constraint locations_timezone_known check (waypost_knows_zone(timezone)),
      add constraint locations_timezone_present
        check (timezone is not null or (opening_hours is null and special_hours is null))`
  yield* sql`
    create index locations_with_hours on locations (uuid) where week_minutes is not null or special_minutes is not null`
  yield* sql`
    call waypost_log_table('locations', 'location', '{city,country_code,has_media,week_minutes,special_minutes}')`
})
