import { Context, DateTime, Effect, Layer } from "effect"
import { extraMembers } from "../../domain/assets/Asset.ts"
import { HistoryExpiredError } from "../../domain/changes/Errors.ts"
import { type RecordKind, typeOfKind } from "../../domain/changes/RecordType.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { shownOf } from "../../sql/Columns.ts"
import { answerOf } from "../../sql/Selected.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import * as LocationMedia from "../locations/LocationMedia.ts"
import { jsonIn, type PostView, viewOf } from "../posts/PostColumns.ts"
import type { ReadPost } from "../posts/Posts.ts"
import * as RecordColumns from "./RecordColumns.ts"
import { type Kinds, notFound } from "./RecordKinds.ts"
import { tableFor, tablesFor } from "./PastReads.ts"

type NotThere<K extends RecordKind> = Kinds[K]["notFound"] | HistoryExpiredError | InvalidRequestError

/**
 * Records as they were. The expressions of the read path run on the rows of the moment, which common table expressions
 * give under the names of the tables: PostgreSQL reads those in the place of the tables.
 */
export class PastRecords extends Context.Service<
  PastRecords,
  {
    /** The answer of the read of a record at a time, with the extras; addresses are current. */
    get<K extends Exclude<RecordKind, "posts">>(
      kind: K,
      uuid: string,
      at: DateTime.Utc,
      selection?: Selection
    ): Effect.Effect<Encoded<Kinds[K]["record"]>, NotThere<K>>
    getPost(
      uuid: string,
      at: DateTime.Utc,
      view: PostView
    ): Effect.Effect<ReadPost, NotThere<"posts"> | InvalidLocaleError>
  }
>()("waypost/repositories/changes/PastRecords") {
  static readonly layer = Layer.effect(
    PastRecords,
    Effect.gen(function* () {
      const { search } = yield* Sql
      const locales = yield* Locales
      const publicUrl = yield* PublicUrl
      const current = RecordColumns.make(publicUrl, locales.defaultLocale)
      const media = LocationMedia.mediaOfRows(publicUrl)
      const columns = { ...current, location: shownOf(current.location, { media }) }

      const read = Effect.fnUntraced(function* <K extends RecordKind>(
        kind: K,
        uuid: string,
        at: DateTime.Utc,
        { isPrepared, json, language = sql`null::text` }: Shown
      ) {
        const [row] = yield* search((client) => {
          const statement = client<Row<Kinds[K]["record"]>>`${readSql(kind, uuid, at, json, language)}`
          return Effect.orDie(isPrepared ? statement : statement.unprepared)
        })
        if (row!.isFuture) return yield* future
        if (row!.isErased) return yield* Effect.fail(notFound[kind].of(uuid))
        if (row!.isExpired) return yield* expired
        if (row!.json === null) return yield* Effect.fail(notFound[kind].of(uuid))
        return { json: row!.json, language: row!.language ?? undefined }
      })

      const get = Effect.fnUntraced(function* <K extends Exclude<RecordKind, "posts">>(
        kind: K,
        uuid: string,
        at: DateTime.Utc,
        selection: Selection = {}
      ) {
        const json = answerOf({ columns: columns[typeOfKind[kind]], extras: extras[kind] }, selection)
        return (yield* read(kind, uuid, at, { json, isPrepared: selection.fields === undefined })).json
      })

      const getPost = Effect.fnUntraced(function* (uuid: string, at: DateTime.Utc, view: PostView) {
        const locale = view.locale === undefined ? undefined : yield* locales.check(view.locale)
        const past = viewOf({ ...view, locale, inPast: true }, locales.defaultLanguage)
        const language = sql`${past.members.translations}->0->>'locale'`
        const shown = { json: jsonIn(past, view.fields), language, isPrepared: view.fields === undefined }
        const found = yield* read("posts", uuid, at, shown)
        return locale === undefined ? { ...found, language: undefined } : found
      })

      return traced(PastRecords, { get, getPost })
    })
  )
}

/** Members that are only answered when they are asked for. */
const extras: Partial<Readonly<Record<RecordKind, ReadonlyArray<string>>>> = { assets: extraMembers }

/** How a record is shown. */
interface Shown {
  readonly json: Fragment
  readonly language?: Fragment
  /** Whether the statement is one of few, and so prepared: it takes longer to plan than to run. */
  readonly isPrepared: boolean
}

interface Row<A> {
  readonly json: Encoded<A> | null
  readonly language: string | null
  readonly isFuture: boolean
  readonly isErased: boolean
  /** Whether the log does not reach back to this time of the record. */
  readonly isExpired: boolean
}

/** Whether `e` is an event of the record. */
const ofRecord = sql`e.record_uuid = moment.uuid and e.type = moment.type`

const readSql = (kind: RecordKind, uuid: string, at: DateTime.Utc, json: Fragment, language: Fragment) => {
  const table = sql.literal(tableFor(kind))
  const moment = sql`moment as materialized (
    select ${uuid}::uuid as uuid, ${typeOfKind[kind]}::text as type, since, waypost_position_at(since) as place,
      exists (select from ${table} t where t.uuid = ${uuid}::uuid) as present
    from (select ${DateTime.formatIso(at)}::timestamptz as since) given)`
  return sql`with ${sql.csv([moment, ...tablesFor[kind]])}
    select past.json, past.language, moment.since > clock_timestamp() as "isFuture",
      exists (select from events e where ${ofRecord} and e.action = 'erased') as "isErased",
      ${isExpired} as "isExpired"
    from moment
    cross join (select pruned_at as at from event_log) horizon
    left join (select ${json} as json, ${language} as language from ${table} t, moment
      where t.uuid = moment.uuid and ${kind === "locations" ? named : sql`true`}) past on true`
}

/**
 * Whether the time is before the history of the record. That begins with its creation, unless the creation was pruned or
 * the log is younger than the record.
 */
const isExpired = sql`coalesce((
  select case when e.action = 'created' then e.actor->>'type' = 'system' and moment.since < e.occurred_at
    else moment.since < horizon.at end
  from events e where ${ofRecord} order by e.position limit 1
), moment.present and moment.since < horizon.at, false)`

/** The values of a deleted location can be erased, those that it cannot be without among them. */
const named = sql`t.name is not null and t.identifier is not null`

const future = InvalidRequestError.at("query", "at", "outOfRange", "Expected a time that is not in the future")

const expired = new HistoryExpiredError({ message: "The history of this record does not reach back to this time" })
