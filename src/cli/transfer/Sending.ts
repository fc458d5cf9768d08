import type { Client } from "../../client/Client.ts"
import * as PlannedRows from "../sync/PlannedRows.ts"
import * as DeferredRows from "./DeferredRows.ts"
import * as DryRun from "./DryRun.ts"
import type { Resource } from "./Resource.ts"
import * as Upsert from "./Upsert.ts"

interface Options {
  readonly summary: Upsert.Summary
  /** Requests at once for rows that no plan takes. */
  readonly concurrency: number
  readonly dryRun?: boolean
  /** Whether the rows are those of a table. */
  readonly flat?: boolean
}

/** Sends the rows of a file: in plans, and one by one those that a plan cannot do. */
export const upsertAll = (
  client: Client["Service"],
  resource: Resource,
  { concurrency, dryRun = false, flat = false, summary }: Options
) => {
  const created = dryRun ? DryRun.createdKeys() : undefined
  const writes = resource.writes?.(client)
  const calls = writes && { list: resource.list(client, { flat }), ...writes }
  const single =
    calls &&
    Upsert.upsertAll(resource, created === undefined ? calls : DryRun.calls(calls, resource, created), {
      concurrency,
      summary
    })
  return DeferredRows.upsertAll(
    PlannedRows.upsertAll(client, resource, { created, single, summary }),
    resource,
    summary
  )
}
