import type { Client } from "../../client/Client.ts"
import * as DeferredRows from "./DeferredRows.ts"
import * as DryRun from "./DryRun.ts"
import * as PlannedRows from "../sync/PlannedRows.ts"
import type { Resource } from "./Resource.ts"
import type * as Upsert from "./Upsert.ts"

interface Options {
  readonly summary: Upsert.Summary
  readonly concurrency: number
  readonly dryRun?: boolean
  /** Whether the rows are those of a table. */
  readonly flat?: boolean
}

/** Sends the rows of a file: in plans if the resource has them, otherwise one by one. */
export const upsertAll = (
  client: Client["Service"],
  resource: Resource,
  { concurrency, dryRun = false, flat = false, summary }: Options
) => {
  if (resource.isPlanned) return PlannedRows.upsertAll(client, resource, { dryRun, summary })
  const calls = resource.calls(client, { flat })
  return DeferredRows.upsertAll(resource, dryRun ? DryRun.calls(calls, resource) : calls, { concurrency, summary })
}
