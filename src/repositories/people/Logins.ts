import { DateTime } from "effect"
import type { UserLogin } from "../../domain/people/User.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { sql } from "../../sql/Fragment.ts"

/** What a login did to the row of a user. */
export interface RecordedLogin {
  readonly found: boolean
  readonly isAhead: boolean
  readonly changed: boolean
}

/** One statement, so that of concurrent logins the latest remains. */
export const loginSql = (uuid: string, at: UserLogin["at"]) => sql`
  with login as (
    select at, at > now() + interval '1 day' as ahead
    from (select coalesce(${at ? DateTime.formatIso(at) : null}::timestamptz, now())::timestamptz(3) as at) sent
  ), changed as (
    update users set last_login_at = login.at from login
    where uuid = ${uuid} and not login.ahead and (last_login_at is null or last_login_at < login.at) returning uuid
  ) select exists (select from users where uuid = ${uuid}) as found, ahead as "isAhead",
    exists (select from changed) as changed from login`

export const loginAhead = InvalidRequestError.inBody(
  "at",
  "outOfRange",
  "A login is at most a day ahead of the clock of the service"
)
