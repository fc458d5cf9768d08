import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but members that are set to plain values are not taken one by one: most patches have no others.
  yield* sql.unsafe(`
    create or replace function waypost_merge(current jsonb, patch jsonb) returns jsonb
    language plpgsql immutable parallel safe as $$
    declare
      merged jsonb := case when jsonb_typeof(current) = 'object' then current else '{}' end;
      member text;
      value jsonb;
    begin
      if jsonb_typeof(patch) is distinct from 'object' then return patch; end if;
      -- Most patches repeat values that are there already.
      if merged || patch = merged then return nullif(merged, '{}'); end if;
      if not patch @? 'strict $.* ? (@.type() == "null" || @.type() == "object" || @.type() == "array")' then
        return merged || patch;
      end if;
      for member, value in select * from jsonb_each(patch) loop
        merged := case jsonb_typeof(value)
          when 'null' then merged - member
          when 'object' then merged || jsonb_build_object(member, waypost_merge(merged->member, value))
          else merged || jsonb_build_object(member, value) end;
      end loop;
      return nullif(jsonb_strip_nulls(merged), '{}');
    end $$`)
})
