import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The key that last changed where a webhook delivers. Until now it was not known apart from the one that last changed something else.
  yield* sql`alter table webhook_states add column url_set_by uuid`
  yield* sql`update webhook_states set url_set_by = set_by where set_by is not null`
  // A trigger, so that changes by the version before are noted too, while both run.
  yield* sql.unsafe(`
    create function waypost_webhook_led() returns trigger language plpgsql as $$
    begin
      update webhook_states set url_set_by = (nullif(current_setting('waypost.change', true), '')::jsonb #>> '{actor,uuid}')::uuid
        where webhook_uuid = new.uuid;
      return null;
    end $$`)
  yield* sql`create trigger led after update of url on webhooks for each row when (old.url is distinct from new.url)
    execute function waypost_webhook_led()`

  // As before, but revoking a key also pauses the webhooks whose URL it changed last, and revoking its successor all that revoking the key
  // pauses, which has ended and is not revoked itself. Most keys are no successors, and need no lookups of other keys.
  yield* sql.unsafe(`
    create or replace function waypost_key_revoked() returns trigger language plpgsql as $$
    begin
      update webhooks w set state = 'paused', edited_at = greatest(now(), w.edited_at + interval '1 millisecond')
        from webhook_states s where s.webhook_uuid = w.uuid and w.state <> 'paused' and (
          new.uuid in (w.created_by, s.set_by, s.url_set_by)
          or new.rotations > 0 and exists (select from api_keys k where k.uuid in (w.created_by, s.set_by, s.url_set_by)
            and coalesce(k.first_uuid, k.uuid) = new.first_uuid and k.rotations < new.rotations));
      return null;
    end $$`)
})
