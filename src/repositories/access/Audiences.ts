import type { Scope, View } from "../../sql/View.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { Question, Resource, Subject } from "./Belongings.ts"
import { conditions, given } from "./Rules.ts"

/** What a list needs so that it has the answer to a question, and only that. */
export interface Answer extends Pick<View, "source"> {
  readonly scope: Scope
}

const answerTo = (name: string, question: Question): Answer => {
  const { fixed, resource, subject, uuid } = question
  const one = sql.literal(fixed === "resource" ? resource : subject)
  const rules = conditions(question).map(([, condition]) => condition)
  return {
    // Found once, also where PostgreSQL expects to join it with one row: without statistics, it found it again for each of them.
    source: {
      from: sql`(with once as materialized (${given(question)}) table once) given cross join ${one} o`,
      uuid: sql`given.uuid`
    },
    scope: {
      name,
      where: () => sql.and([sql`o.uuid = ${uuid}`, ...rules]),
      // The rows are counted, because no table has their number.
      total: sql`null`,
      found: sql`exists (select from ${one} where uuid = ${uuid})`,
      // What a subject sees is found through tables, so that its uuid changes no plan.
      isPlannedOnce: fixed === "subject"
    }
  }
}

const uuidOf = (uuid: string): Fragment => sql`${uuid}::uuid`

/** The subjects that see a product or a post now. */
export const audienceOf = (resource: Resource, uuid: string, subject: Subject): Answer =>
  answerTo(`${resource} ${uuid} audience ${subject}`, { resource, subject, fixed: "resource", uuid: uuidOf(uuid) })

/** The products or posts that a subject sees now. */
export const seenBy = (subject: Subject, uuid: string, resource: Resource): Answer =>
  answerTo(`${subject} ${uuid} ${resource}`, { resource, subject, fixed: "subject", uuid: uuidOf(uuid) })
