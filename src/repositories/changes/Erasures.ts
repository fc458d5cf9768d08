import { Effect, String as Str } from "effect"
import type { SqlClient } from "effect/sql"
import type { RecordType } from "../../domain/changes/RecordType.ts"

/**
 * Removes the values of all events of a deleted record, in the transaction that deletes it or later, and notes that in the
 * log. Returns how many events the record has.
 */
export const erase = (sql: SqlClient.SqlClient, type: RecordType, uuid: string) =>
  Effect.map(
    sql<{ readonly events: number }>`select waypost_erase(${type}::text, ${uuid}::uuid) as events`,
    ([row]) => row!.events
  )

/** The column of a member, and the way to the value in it. */
const columnPath = (member: string) => {
  const [first, ...rest] = member.split(".")
  return [Str.camelToSnake(first!), ...rest]
}

/** Removes the values of some members from the events of a record; otherwise the same. */
export const erasePaths = (sql: SqlClient.SqlClient, type: RecordType, uuid: string, members: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly events: number }>`
      select waypost_erase_paths(${type}::text, ${uuid}::uuid, ${JSON.stringify(members.map(columnPath))}::jsonb) as events`,
    ([row]) => row!.events
  )
