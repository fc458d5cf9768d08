import { type Fragment, sql } from "../../sql/Fragment.ts"
import { belongings, everyone, type List, lists, type Question, type Resource } from "./Belongings.ts"

/**
 * Who may see a product or a post: the only rules, of which lists, audiences and explanations are composed.
 *
 * A rule is a condition on two rows: `o` is the one record of the question, and `t` a row of the other side. The sets
 * that rules compare with are those of the one record, so that they are made once.
 */
const rowsOf = ({ fixed }: Question) =>
  fixed === "resource" ? { resource: "o", subject: "t" } : { resource: "t", subject: "o" }

/** Whether a value is in a set, which a list collects once and a pair of records does not. */
const isIn = ({ isPair }: Question, value: Fragment, set: Fragment): Fragment =>
  isPair === true
    ? sql`exists (select from (${set}) members (uuid) where members.uuid = ${value})`
    : sql`${value} in (${set})`

const column = (row: string, name: string) => sql.literal(`${row}.${name}`)

export const isPublished = (row: string) => sql`${column(row, "status")} = 'published'`

/** The columns of the dates between which something can be seen. */
export const dates = {
  products: ["visible_from", "visible_until"],
  posts: ["publish_at", "expire_at"]
} as const

/** Whether now is within the dates of a row; an end that is not set is open. */
export const isWithinDates = (resource: Resource, row: string): Fragment => {
  const [from, until] = dates[resource]
  return sql`(coalesce(${column(row, from)} <= now(), true) and coalesce(now() < ${column(row, until)}, true))`
}

/** The product whose permissions, locations and campaigns a product has: a variant has those of its parent. */
export const ownerOf = (row: string) => sql`coalesce(${column(row, "parent_uuid")}, ${column(row, "uuid")})`

/** The uuid of the one product or post whose access lists count. */
const ownerIn = ({ resource, uuid }: Question) =>
  resource === "posts" ? uuid : sql`(select ${ownerOf("owned")} from products owned where owned.uuid = ${uuid})`

/** The condition that rows belong to the one record of the question, and the column of the other side. */
const sides = (question: Question, resource: string, subject: string) =>
  question.fixed === "resource"
    ? { isOne: sql`${sql.literal(resource)} = ${ownerIn(question)}`, other: sql.literal(subject) }
    : { isOne: sql`${sql.literal(subject)} = ${question.uuid}`, other: sql.literal(resource) }

const rule = (name: string) => sql`l.rule = ${sql.literal(`'${name}'`)}`

/** The other side of the question and a location of the subject that may use the product, which has a locations module. */
export const allowedPlaces = (question: Question): Fragment => {
  const { from, named, subject } = belongings(question.subject, "locations")
  const { isOne, other } = sides(question, "l.seen_uuid", subject)
  const inGroup = sql`join group_locations g on g.group_uuid = l.named`
  // Known before the rows, so that PostgreSQL looks at none of a mode that the one product does not have.
  const isMode = (name: string) =>
    question.fixed === "resource"
      ? sql`and exists (select from access_lists l where ${rule(name)} and l.named = ${everyone} and l.seen_uuid = ${ownerIn(question)})`
      : sql``
  const mode = (name: string) =>
    sql`select ${other} as uuid, ${named} as place from access_lists l cross join ${from} where ${rule(name)} and l.named = ${everyone} and ${isOne}
      ${isMode(name)}`
  const isExcluded = (list: string, joined: Fragment, location: string) => sql`exists (
    select from access_lists x ${joined} where x.rule = ${sql.literal(`'exclude${list}'`)} and x.seen_uuid = l.seen_uuid
      and ${sql.literal(location)} = ${named})`
  return sql`${mode("all")}
    union all select ${other}, ${named} from access_lists l join ${from} on ${named} = l.named
      where ${rule("includeLocations")} and ${isOne}
    union all select ${other}, ${named} from access_lists l ${inGroup} join ${from} on ${named} = g.location_uuid
      where ${rule("includeGroups")} and ${isOne}
    union all ${mode("exclude")} and not ${isExcluded("Locations", sql``, "x.named")}
      and not ${isExcluded("Groups", sql`join group_locations g on g.group_uuid = x.named`, "g.location_uuid")}`
}

/** The products with a locations module; one without is for all. */
const isLimited = sql`select l.seen_uuid from access_lists l where l.named = ${everyone} and l.rule <> 'everyone'`

/** The uuids of the subjects whom the locations module of the one product lets see it. */
export const allowed = (question: Question): Fragment => sql`
  select uuid from ${sql.literal(question.subject)} where not exists (${isLimited} and l.seen_uuid = ${ownerIn(question)})
  union all select uuid from (${allowedPlaces(question)}) places`

/** Whether the locations module lets the subject see a product. */
export const isForLocation = (question: Question): Fragment => {
  const { resource, subject } = rowsOf(question)
  const places = sql`select uuid from (${allowedPlaces(question)}) places`
  return question.fixed === "resource"
    ? sql`(not exists (${isLimited} and l.seen_uuid = ${ownerIn(question)})
        or ${isIn(question, column(subject, "uuid"), places)})`
    : sql`(${ownerOf(resource)} not in (${isLimited}) or ${ownerOf(resource)} in (${places}))`
}

/** A variant is seen only while its parent is. */
const isParentSeen = (row: string) => sql`(${column(row, "parent_uuid")} is null or exists (select from products parent
  where parent.uuid = ${column(row, "parent_uuid")} and ${isPublished("parent")} and ${isWithinDates("products", "parent")}))`

/** The rules in addition to that of the permissions module or the audience, in their order. */
export const conditions = (question: Question): ReadonlyArray<readonly [code: string, condition: Fragment]> => {
  const { resource, subject } = rowsOf(question)
  const ofUser =
    question.subject === "users" ? [["userState", sql`${column(subject, "status")} = 'active'`] as const] : []
  if (question.resource === "posts")
    return [...ofUser, ["postState", isPublished(resource)], ["postDates", isWithinDates("posts", resource)]]
  return [
    ...ofUser,
    ["productState", isPublished(resource)],
    ["productDates", isWithinDates("products", resource)],
    ["locationsModule", isForLocation(question)],
    ["inheritance", isParentSeen(resource)]
  ]
}

/** The entries `l` of a list that name a group or location to which a subject belongs, by the row `b`. */
const entries = (question: Question, list: List, rules: Fragment): Fragment => {
  const { from, named, subject } = belongings(question.subject, list)
  const { isOne } = sides(question, "l.seen_uuid", subject)
  return sql`from access_lists l join ${from} on ${named} = l.named where ${rules} and ${isOne}`
}

const viewing = { groups: rule("viewGroups"), locations: rule("viewLocations") }
const others = { groups: rule("groups"), locations: rule("locations") }

/** The rows of the products or posts that are given to everyone. */
const givenToAll = sql`from access_lists l where ${rule("everyone")} and l.named = ${everyone}`

/** The uuids of the other side of the question for which the permissions module or the audience holds. */
export const given = (question: Question): Fragment => {
  const { fixed, resource, subject } = question
  const listed = (list: List) => {
    const { other } = sides(question, "l.seen_uuid", belongings(subject, list).subject)
    return sql`select ${other} as uuid ${entries(question, list, viewing[list])}`
  }
  const everyoneOf =
    fixed === "resource"
      ? sql`select uuid from ${sql.literal(subject)} where exists (select ${givenToAll} and l.seen_uuid = ${ownerIn(question)})`
      : sql`select l.seen_uuid ${givenToAll}`
  const own = sql.join(" union ", false)([...lists.map(listed), everyoneOf])
  return fixed === "resource" || resource === "posts"
    ? own
    : sql`with own as materialized (${own}) select own.uuid from own
        union all select v.uuid from own join products v on v.parent_uuid = own.uuid`
}

/** Whether the permissions module or the audience holds for the pair `o` and `t`. */
export const isGiven = (question: Question): Fragment => isIn(question, sql`t.uuid`, given(question))

/** The entries of a pair that name a group or a location of the subject: the list, uuid, actions, and whether `view` is one. */
export const matches = (question: Question): Fragment =>
  sql.join(
    " union all ",
    false
  )(
    lists.map((list) => {
      const { subject } = belongings(question.subject, list)
      return sql`select ${sql.literal(`'${list}'`)} as list, l.named as uuid, l.actions, ${viewing[list]} as "isView"
        ${entries(question, list, sql`(${viewing[list]} or ${others[list]})`)} and ${sql.literal(subject)} = t.uuid`
    })
  )

/**
 * The entries of the permissions module or the audience of the one record: list and uuid. The settings keep a group or a
 * location that is deleted; answers do not have it, and it is no entry.
 */
export const listed = (question: Question): Fragment =>
  sql.join(
    " union all ",
    false
  )(
    lists.map(
      (list) => sql`select ${sql.literal(`'${list}'`)} as list, l.named as uuid
        from access_lists l join ${sql.literal(list)} named on named.uuid = l.named
        where l.seen_uuid = ${ownerIn(question)} and (${viewing[list]} or ${others[list]})`
    )
  )

/** The name of a campaign that is active now, of the settings of a campaigns module. */
export const currentCampaign = (settings: Fragment): Fragment =>
  sql`(select one->>'name' from jsonb_array_elements(${settings}->'campaigns') one where one->>'status' = 'active'
    and (one->>'startsAt')::timestamptz <= now() and now() < (one->>'endsAt')::timestamptz limit 1)`

/** Whether a product can be ordered now, by the settings of its campaigns module; null without one. */
export const isOrderable = (settings: Fragment): Fragment =>
  sql`(coalesce(not (${settings}->>'onlyDuringCampaign')::boolean, true) or ${currentCampaign(settings)} is not null)`
