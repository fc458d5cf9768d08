import { Context, Effect, Layer } from "effect"
import type { AccessFacts } from "../../domain/access/AccessFacts.ts"
import { typeOfKind } from "../../domain/changes/RecordType.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { labelSql } from "../changes/RecordTables.ts"
import { belongings, type Question, type Resource, type Subject } from "./Belongings.ts"
import * as Rules from "./Rules.ts"

/** A pair of which the access is asked. */
export interface Pair {
  readonly subject: Subject
  readonly subjectUuid: string
  readonly resource: Resource
  readonly resourceUuid: string
}

interface Row {
  readonly isSubject: boolean
  readonly facts: AccessFacts | null
}

/** Why a user or a location sees a product or a post, or does not. */
export class Explanations extends Context.Service<
  Explanations,
  {
    /** What decides; null if one of the records does not exist. */
    explain(pair: Pair): Effect.Effect<Row>
  }
>()("waypost/repositories/access/Explanations") {
  static readonly layer = Layer.effect(
    Explanations,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      return traced(Explanations, {
        explain: (pair) =>
          // A statement for each pair of kinds, which takes far longer to plan than to run.
          pooled<Row>`${explanation(pair)}`.pipe(
            Effect.orDie,
            Effect.map(([row]) => row!)
          )
      })
    })
  )
}

/** How many groups, locations or members are named in messages. */
const maxNames = sql.literal("3")

/** The product or post in a row, with its state. */
const published = (resource: Resource, row: string): Fragment => {
  const [uuid, status] = [sql.literal(`${row}.uuid`), sql.literal(`${row}.status`)]
  const [from, until] = Rules.dates[resource].map((name) => sql.literal(`${row}.${name}`))
  return sql`json_build_object('type', ${typeOfKind[resource]}::text, 'uuid', ${uuid}, 'label', ${labelSql(typeOfKind[resource], uuid)},
    'status', ${status}, 'isPublished', ${Rules.isPublished(row)}, 'isWithinDates', ${Rules.isWithinDates(resource, row)},
    'from', ${timestampJson(from!)}, 'until', ${timestampJson(until!)}, 'isOver', coalesce(${until!} <= now(), false))`
}

const settings = (name: string) =>
  sql`(select settings from product_modules where product_uuid = ${Rules.ownerOf("o")} and module = ${name}::text)`

/** To whom the one record is given, and by which entries to the subject. */
const givenTo = (question: Question): Fragment => {
  const to =
    question.resource === "posts"
      ? sql`o.audience->>'authorizationType'`
      : sql`(select coalesce(p.settings->>'authorizationType', 'groups') from product_modules p
          where p.product_uuid = ${Rules.ownerOf("o")} and p.module = 'permissions')`
  const labelled = sql`case list when 'groups' then ${labelSql("group", sql`named.uuid`)} else ${labelSql("location", sql`named.uuid`)} end`
  return sql`(with matches as materialized (${Rules.matches(question)}), listed as materialized (${Rules.listed(question)})
    select json_build_object('to', ${to}, 'count', (select count(*)::int from listed),
      'some', (select coalesce(json_agg(json_build_object('uuid', uuid, 'label', ${labelled})), '[]')
        from (select * from listed order by uuid limit ${maxNames}) named),
      'matches', (select coalesce(json_agg(json_build_object('list', list, 'uuid', uuid, 'label', ${labelled},
          'isView', "isView", 'actions', actions) order by "isView" desc, uuid), '[]')
        from (select * from matches order by "isView" desc, uuid limit ${maxNames}) named),
      'actions', (select coalesce(json_agg(distinct action), '[]') from matches, unnest(matches.actions) action)))`
}

const locationsModule = (question: Question): Fragment =>
  sql`(select json_build_object('mode', coalesce(module.settings->>'mode', 'all'), 'place', (
      select json_build_object('uuid', place, 'label', ${labelSql("location", sql`place`)})
        from (${Rules.allowedPlaces(question)}) places where places.uuid = t.uuid order by place limit 1))
    from ${settings("locations")} module (settings) where module.settings is not null)`

const explanation = ({ resource, resourceUuid, subject, subjectUuid }: Pair): Fragment => {
  const question: Question = { subject, resource, fixed: "resource", uuid: sql`o.uuid`, isPair: true }
  const campaigns = settings("campaigns")
  const rules = [
    ...Rules.conditions(question),
    [resource === "posts" ? "audience" : "permissionsModule", Rules.isGiven(question)] as const,
    ...(resource === "posts" ? [] : [["campaign", Rules.isOrderable(campaigns)] as const])
  ].map(([code, condition]) => sql`${code}::text, ${condition}`)
  const places = belongings(subject, "locations")
  const facts = sql`select json_build_object(
      'subject', json_build_object('type', ${typeOfKind[subject]}::text, 'uuid', t.uuid, 'label', ${labelSql(typeOfKind[subject], sql`t.uuid`)},
        'status', ${subject === "users" ? sql`t.status` : sql`null`},
        'places', (select count(*)::int from (select from ${places.from} where ${sql.literal(places.subject)} = t.uuid limit 1) place)),
      'resource', ${published(resource, "o")},
      'parent', ${resource === "posts" ? sql`null` : sql`(select ${published("products", "p")} from products p where p.uuid = o.parent_uuid)`},
      'rules', json_build_object(${sql.csv(rules)}),
      'given', ${givenTo(question)},
      'locations', ${resource === "posts" ? sql`null` : locationsModule(question)},
      'campaigns', ${
        resource === "posts"
          ? sql`null`
          : sql`(select json_build_object('isLimited', coalesce((settings->>'onlyDuringCampaign')::boolean, false),
        'current', ${Rules.currentCampaign(sql`settings`)}) from ${campaigns} module (settings) where settings is not null)`
      })
    from ${sql.literal(resource)} o cross join ${sql.literal(subject)} t where o.uuid = ${resourceUuid}::uuid and t.uuid = ${subjectUuid}::uuid`
  return sql`select exists (select from ${sql.literal(subject)} where uuid = ${subjectUuid}::uuid) as "isSubject", (${facts}) as facts`
}
