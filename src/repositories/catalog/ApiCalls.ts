import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ApiCall } from "../../domain/catalog/modules/Api.ts"
import { ModuleNotActiveError } from "../../domain/catalog/ProductModule.ts"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { ProductId } from "../../domain/catalog/ProductId.ts"
import * as Written from "../../domain/write/Written.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { touched } from "../../sql/Reads.ts"
import { transaction } from "../../sql/Transactions.ts"
import type { ModuleReads } from "./ModuleReads.ts"
import { noVisibility } from "./ModuleReferences.ts"

/** Sets the last call of an API module: a column next to its settings, so that a write of the settings keeps it. */
export const make = (pooled: SqlClient.SqlClient, check: ModuleReads["check"]) => {
  /** The product and its parent, whose module it may have, locked against writes of their modules. */
  const locked = Effect.fnUntraced(function* (uuid: ProductId, precondition: Precondition) {
    const rows = yield* pooled`
      select uuid from products p where uuid = ${uuid} or uuid = (select parent_uuid from products where uuid = ${uuid})
      order by uuid for no key update`
    if (rows.length === 0) return yield* ProductNotFoundError.of(uuid)
    yield* check("api", uuid, noVisibility, precondition)
  })

  return Effect.fnUntraced(
    function* (uuid: ProductId, call: ApiCall, precondition: Precondition) {
      if (precondition !== undefined) yield* locked(uuid, precondition)
      const [row] = yield* pooled<Recorded>`${recordSql(uuid, call)}`
      if (row === undefined) return yield* ProductNotFoundError.of(uuid)
      if (row.owner === null) return yield* ModuleNotActiveError.of("api", uuid)
      return Written.updated("products", uuid, row.changed)
    },
    (write) => transaction(pooled, write)
  )
}

interface Recorded {
  /** The product whose module it is, if it is active. */
  readonly owner: string | null
  readonly changed: boolean
}

const recordSql = (uuid: string, { at, httpStatus, status }: ApiCall) => {
  const time = sql`coalesce(${at ? DateTime.formatIso(at) : null}::timestamptz, now())`
  return sql`
    with call as (
      select jsonb_build_object('at', ${timestampJson(time)}, 'status', ${status}::text,
        'httpStatus', ${httpStatus}::int) as value
    ), found as (
      select m.product_uuid as owner from products p left join lateral (
        select product_uuid from product_modules where module = 'api' and product_uuid in (p.uuid, p.parent_uuid)
        order by product_uuid = p.uuid desc limit 1
      ) m on true where p.uuid = ${uuid}
    ), changed as (
      update product_modules m set last_call = call.value, ${touched("m")} from found, call
      where m.product_uuid = found.owner and m.module = 'api' and m.last_call is distinct from call.value
      returning m.module
    ) select owner, exists (select from changed) as changed from found`
}
