import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The translation for a locale: that locale, else its language, else the default language, else the first there is.
  yield* sql.unsafe(`
    create function waypost_translation(translations jsonb, wanted text, language text) returns jsonb
    language sql immutable parallel safe
    return (select item from jsonb_array_elements(translations) with ordinality listed (item, position)
      order by item->>'locale' = wanted desc,
        split_part(item->>'locale', '-', 1) = split_part(wanted, '-', 1) desc,
        split_part(item->>'locale', '-', 1) = language desc, position
      limit 1)`)

  // Users, groups, locations and assets are named by uuid and joined when a post is read: what is deleted is gone from
  // the answer, and no write of a post waits for a write of those.
  yield* sql`
    create table posts (
      uuid uuid primary key,
      slug text not null collate "C",
      type text not null collate "C",
      status text not null collate "C",
      title text not null collate "C",
      translations jsonb not null,
      author jsonb,
      cover_asset_uuid uuid,
      media_asset_uuids text[] not null default '{}',
      categories text[] not null default '{}',
      tags text[] not null default '{}',
      audience jsonb not null,
      call_to_action jsonb,
      pinned boolean not null,
      publish_at timestamptz(3),
      expire_at timestamptz(3),
      published_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint posts_translations_present check (jsonb_array_length(translations) > 0),
      constraint posts_call_to_action_complete check ((call_to_action ? 'type') = (call_to_action ? 'url')),
      constraint posts_scheduled_publish_at check (status <> 'scheduled' or publish_at is not null),
      constraint posts_expire_after_publish check (expire_at > publish_at)
    )`

  // The moves between states are held here, where the old state is known under the row's lock.
  yield* sql.unsafe(`
    create function waypost_post_status() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' and new.status not in ('draft', 'scheduled')
        or tg_op = 'UPDATE' and (old.status, new.status) not in
          (('draft', 'scheduled'), ('scheduled', 'draft'), ('scheduled', 'published'), ('published', 'archived')) then
        raise exception 'A post cannot become %', new.status
          using errcode = 'check_violation', constraint = 'posts_status_move';
      end if;
      if new.status = 'published' then
        new.published_at := now();
      end if;
      return new;
    end $$`)
  yield* sql`create trigger status_begins before insert on posts for each row execute function waypost_post_status()`
  yield* sql`
    create trigger status_moves before update of status on posts for each row
    when (old.status is distinct from new.status) execute function waypost_post_status()`

  // Posts sort by their title in the default language. That is a setting of the service, so the service notes it here.
  yield* sql`create table post_language (language text not null collate "C")`
  yield* sql`insert into post_language values ('en')`
  yield* sql.unsafe(`
    create function waypost_post_title() returns trigger language plpgsql as $$
    begin
      select waypost_translation(new.translations, language, language)->>'title' into new.title from post_language;
      return new;
    end $$`)
  yield* sql`
    create trigger title_follows before insert or update of translations on posts
    for each row execute function waypost_post_title()`

  // Also finds a post by its slug, which a page in the portal does.
  yield* sql.unsafe(`create unique index posts_slug_key on posts (slug collate "und-x-icu")`)
  for (const column of ["title", "status"]) {
    yield* sql.unsafe(`create index posts_${column} on posts (${column} collate "und-x-icu", uuid)`)
  }
  for (const column of ["created_at", "edited_at"]) {
    yield* sql.unsafe(`create index posts_${column} on posts (${column}, uuid)`)
  }
  yield* sql`create index posts_publish_at_asc on posts (publish_at, uuid)`
  yield* sql`create index posts_publish_at_desc on posts (publish_at desc nulls last, uuid desc)`
  yield* sql`create index posts_categories on posts using gin (categories)`
  yield* sql`create index posts_tags on posts using gin (tags)`

  // What is looked for every moment: the posts that are due.
  yield* sql`create index posts_due on posts (publish_at) where status = 'scheduled'`
  yield* sql`create index posts_expiring on posts (expire_at) where status = 'published'`
  yield* sql`call waypost_count('posts')`
})
