import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // An option that is new is that of no asset.
  yield* sql`
    create function waypost_labels_differ(before jsonb, after jsonb) returns boolean language sql immutable parallel safe
    return exists (
      select from jsonb_array_elements(before) was left join jsonb_array_elements(after) becomes on becomes->>'key' = was->>'key'
      where becomes->'translations' is distinct from was->'translations')`
  // As before, but only where the documents of assets change: those of a meta tag that is not searchable have nothing of it, and no
  // document has more of an option than its labels.
  yield* sql`
    create or replace trigger texts_changed after update of searchable, options on meta_tag_definitions for each row
      when (old.searchable is distinct from new.searchable
        or new.searchable and waypost_labels_differ(old.options, new.options))
      execute function waypost_stale_assets('asset_meta_tags', 'definition_uuid')`
  yield* sql`
    create or replace trigger texts_removed before delete on meta_tag_definitions for each row
      when (old.searchable) execute function waypost_stale_assets('asset_meta_tags', 'definition_uuid')`
})
