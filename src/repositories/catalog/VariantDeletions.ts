import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Deletions } from "../../sql/batch/BatchTypes.ts"
import { sql } from "../../sql/Fragment.ts"

/** A product with variants is not deleted. */
export const hasVariants = (count: number) =>
  InvalidRequestError.at(
    "path",
    "uuid",
    "hasVariants",
    `The product has ${count === 1 ? "1 variant" : `${count} variants`}; delete them first`
  )

/** The parent that a row of a file names; its text can have white space around the UUID, of which PostgreSQL accepts none. */
const parentSent = sql`substring(p.data->>'parentUuid' from '[0-9A-Fa-f-]{36}')::uuid`

/** Variants are deleted before other products. The deletion of a product to which variants belong after the plan is refused. */
export const deletions: Deletions = {
  isFirst: sql`(t.type = 'variant')`,
  kept: sql`
    select d.record, count(*)::int as count from (
      select t.parent_uuid as parent from planned d join products t on t.parent_uuid = d.record
        where d.kind = 'delete' and not exists (select from planned p
          where p.record = t.uuid and (p.kind = 'delete' or p.kind = 'update' and p.data->>'parentUuid' is not null))
      union all
      select ${parentSent} from planned p
        where p.kind in ('create', 'update') and p.data->>'parentUuid' is not null
    ) variant join planned d on d.record = variant.parent and d.kind = 'delete' group by d.record`,
  issuesOf: (count) => hasVariants(count).issues
}
