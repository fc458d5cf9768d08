import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but the lists of a path are copied whole. For each text in an object, `jsonb_agg` of the object looks for the end of
  // all that follow: a relation with ten thousand records took more than a second.
  yield* sql.unsafe(`
    create or replace function waypost_merge_links(links jsonb[]) returns jsonb language sql immutable parallel safe
    return (select to_jsonb(array_agg(jsonb_build_object('path', path, 'added', added, 'removed', removed) order by path)) from (
      select path, coalesce(jsonb_agg(uuid order by uuid) filter (where change > 0), '[]') as added,
        coalesce(jsonb_agg(uuid order by uuid) filter (where change < 0), '[]') as removed
      from (
        select link->>'path' as path, uuid, sum(change) as change from unnest(links) link, lateral (
          select uuid, 1 as change from jsonb_array_elements_text(link->'added') uuid
          union all select uuid, -1 from jsonb_array_elements_text(link->'removed') uuid
        ) members group by 1, 2
      ) summed where change <> 0 group by path
    ) paths)`)
})
