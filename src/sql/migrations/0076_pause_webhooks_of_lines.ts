import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but revoking the successor of a key also pauses the webhooks of the key, which has ended and is not revoked itself. Most
  // keys are no successors, and need no lookups of other keys.
  yield* sql.unsafe(`
    create or replace function waypost_key_revoked() returns trigger language plpgsql as $$
    begin
      update webhooks w set state = 'paused', edited_at = greatest(now(), w.edited_at + interval '1 millisecond')
        from webhook_states s where s.webhook_uuid = w.uuid and w.state <> 'paused' and (
          new.uuid in (w.created_by, s.set_by)
          or new.rotations > 0 and exists (select from api_keys k where k.uuid in (w.created_by, s.set_by)
            and coalesce(k.first_uuid, k.uuid) = new.first_uuid and k.rotations < new.rotations));
      return null;
    end $$`)
})
