import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"

/** HMAC (RFC 2104) hashes the message between the key in two disguises; they are kept, so that SQL can sign as well. */
const disguised = (key: Uint8Array, mask: number) =>
  Buffer.from(Uint8Array.from({ length: 64 }, (_, index) => (key[index] ?? 0) ^ mask)).toString("hex")

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What signs the addresses of files: in the database, because every process that answers has to know it.
  const secret = SecureRandom.randomBytesUnsafe(32)
  yield* sql`create table secrets (name text primary key collate "C", inner_key bytea not null, outer_key bytea not null)`
  yield* sql`insert into secrets values
    ('addresses', decode(${disguised(secret, 0x36)}, 'hex'), decode(${disguised(secret, 0x5c)}, 'hex'))`
  yield* sql.unsafe(`
    create function waypost_sign(message text) returns text language sql stable parallel safe as $$
      select rtrim(translate(encode(sha256(outer_key || sha256(inner_key || convert_to(message, 'UTF8'))), 'base64'),
        '+/', '-_'), '=') from secrets where name = 'addresses'
    $$`)

  yield* sql`
    create table files (
      uuid uuid primary key,
      file_name text not null collate "C",
      extension text not null collate "C",
      mime_type text not null collate "C",
      size bigint not null,
      sha256 text not null collate "C",
      path_name text not null collate "C",
      url_name text not null collate "C",
      processing text not null default 'pending' collate "C",
      width int,
      height int,
      duration float8,
      created_at timestamptz(3) not null default now(),
      unattached_since timestamptz(3) default now()
    )`
  yield* sql`create index files_sha256 on files (sha256)`
  yield* sql`create index files_unattached on files (unattached_since) where unattached_since is not null`

  // An address holds until the end of the seventh day after today, so that a file has one address for a whole day.
  yield* sql.unsafe(`
    create function waypost_file_query(file uuid, name text) returns text language sql stable parallel safe as $$
      select '?expires=' || expires || '&signature=' || waypost_sign(file || '/' || name || '?' || expires)
      from (select extract(epoch from date_trunc('day', now() at time zone 'UTC'))::bigint + 8 * 86400 as expires) today
    $$`)
  yield* sql.unsafe(`
    create function waypost_file_urls(file uuid, path_name text, url_name text, origin text, cdn text)
    returns jsonb language sql stable parallel safe as $$
      select jsonb_build_object(
        'original', origin || folder || url_name || query,
        'thumbnail', origin || folder || 'thumbnail_' || url_name || waypost_file_query(file, 'thumbnail_' || path_name),
        'preview', origin || folder || 'preview_' || url_name || waypost_file_query(file, 'preview_' || path_name),
        'cdnUrl', cdn || folder || url_name || query)
      from (select '/files/' || file || '/' as folder, waypost_file_query(file, path_name) as query) parts
    $$`)

  yield* sql`
    create table upload_sessions (
      uuid uuid primary key,
      api_key_uuid uuid not null references api_keys (uuid),
      file_uuid uuid not null,
      status text not null default 'open' collate "C",
      file_name text not null collate "C",
      file_size bigint not null,
      content_type text not null collate "C",
      sha256 text collate "C",
      part_size bigint not null,
      number_of_parts int not null,
      storage_id text collate "C",
      claimed_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null default now() + interval '24 hours',
      constraint upload_sessions_file_uuid_key unique (file_uuid)
    )`
  yield* sql`create index upload_sessions_open on upload_sessions (api_key_uuid) where status = 'open'`
  yield* sql`create index upload_sessions_expiring on upload_sessions (expires_at) where status = 'open'`
  yield* sql`create index api_keys_replaced_by on api_keys (replaced_by_uuid) where replaced_by_uuid is not null`
})
