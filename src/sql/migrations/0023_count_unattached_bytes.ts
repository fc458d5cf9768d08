import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // In whose share of the unattached bytes an upload and its file count; files of earlier releases count in none.
  yield* sql`alter table upload_sessions add column share_uuid uuid`
  yield* sql`update upload_sessions set share_uuid = api_key_uuid where status = 'open'`
  yield* sql`create index upload_sessions_open_of_share on upload_sessions (share_uuid) where status = 'open'`
  yield* sql`alter table files add column share_uuid uuid`
  // An expression, because PostgreSQL then knows how many unattached files a share has, and not only how many files.
  yield* sql`create index files_unattached_of_share
    on files ((case when unattached_since is not null then share_uuid end), created_at) where unattached_since is not null`
})
