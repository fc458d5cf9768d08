import { Effect, Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import type { Definition } from "../../domain/assets/metaTags/MetaTagValue.ts"
import { definitionsSql, validatedSql } from "./MetaTagSql.ts"

/** The definitions that validate the values of an asset. */
export interface Definitions {
  readonly definitions: ReadonlyArray<Definition>
  /** The keys of those that apply to the asset. */
  readonly applicable: ReadonlySet<string>
}

interface Known {
  readonly edited: string
  readonly definition: Definition
}

/** The definitions as last read; current while the version is the same. */
interface Last extends Pick<Definitions, "definitions"> {
  readonly version: string
  readonly byUuid: ReadonlyMap<string, Known>
  /** Which read it was. */
  readonly read: number
}

interface Current {
  readonly version: string
  readonly applicable: ReadonlyArray<string>
}

interface Row {
  readonly uuid: string
  readonly edited: string
  readonly json: string | null
}

/**
 * Reads the definitions for an asset in some categories. They have megabytes together: a process keeps them, and reads those that were
 * edited once another version is found. One read at a time is for all that wait for it.
 */
export const make = (pooled: SqlClient.SqlClient) => {
  const reading = Semaphore.makeUnsafe(1)
  let last: Last = { version: "", read: 0, byUuid: new Map(), definitions: [] }
  let begun = 0
  const readEdited = Effect.fnUntraced(function* (version: string) {
    const read = ++begun
    const { byUuid } = last
    const known = Object.fromEntries(Array.from(byUuid, ([uuid, { edited }]) => [uuid, edited]))
    const rows = yield* pooled<Row>`${validatedSql(known)}`
    const now = rows.map(({ edited, json, uuid }): readonly [string, Known] => [
      uuid,
      { edited, definition: json === null ? byUuid.get(uuid)!.definition : JSON.parse(json) }
    ])
    last = { version, read, byUuid: new Map(now), definitions: now.map(([, { definition }]) => definition) }
    return last
  })
  return Effect.fnUntraced(function* (categories: ReadonlyArray<string>) {
    const [row] = yield* pooled<Current>`${definitionsSql(categories)}`
    const { applicable, version } = row!
    const before = begun
    // What another one began to read since then is as new as the version.
    const latest = Effect.suspend(() =>
      last.version === version || last.read > before ? Effect.succeed(last) : readEdited(version)
    )
    const { definitions } = last.version === version ? last : yield* reading.withPermit(latest)
    return { definitions, applicable: new Set(applicable) } satisfies Definitions
  }, Effect.orDie)
}
