import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of a function. */
const replacements = [
  [
    "waypost_seal(int)",
    "action = 'updated' and links is null and type = 'user' and after - 'last_login_at' - 'edited_at' = '{}'",
    "waypost_is_login(type, action, after, links)"
  ],
  [
    "waypost_queue_deliveries(int)",
    "perform from webhooks where state = 'active' order by uuid for no key update;",
    "perform from webhooks order by uuid for no key update;"
  ],
  [
    "waypost_queue_deliveries(int)",
    "if found and head < stop then",
    "if head < stop and exists (select from webhooks where state = 'active') then"
  ]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Whether a change of a record is a login, which is no event.
  yield* sql.unsafe(`
    create function waypost_is_login(type text, action text, after jsonb, links jsonb) returns boolean
    language sql immutable parallel safe
    return action = 'updated' and links is null and type = 'user' and after - 'last_login_at' - 'edited_at' = '{}'`)

  // `waypost_queue_deliveries` locks all webhooks, and not only those that are active: it waits for a transaction that activates
  // one, and delivers to it the events that were sealed meanwhile.
  for (const [name, before, after] of replacements) {
    yield* sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('${name}'::regprocedure);
      begin
        if strpos(source, $part$${before}$part$) = 0 then raise exception '${name} has another source'; end if;
        execute replace(source, $part$${before}$part$, $part$${after}$part$);
      end $do$`)
  }

  // Deletions that remove members from the lists of other records run one after the other: two at once each logged what the other
  // had not removed yet.
  yield* sql.unsafe(`
    create or replace function waypost_delete_members() returns trigger language plpgsql as $$
    declare
      has_members boolean;
    begin
      execute format('select exists (select from %I where %I = $1)', tg_argv[0], tg_argv[1]) into has_members using old.uuid;
      if has_members then
        -- The values of an asset are logged one by one.
        if tg_argv[0] <> 'asset_meta_tags' then
          perform pg_advisory_xact_lock(hashtext('waypost'), hashtext(tg_argv[0]));
        end if;
        execute format('delete from %I where %I = $1', tg_argv[0], tg_argv[1]) using old.uuid;
      end if;
      return old;
    end $$`)
})
