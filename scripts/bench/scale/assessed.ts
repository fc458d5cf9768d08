import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"

interface Assessed {
  readonly size: number
  readonly sql: Sql
}

/** Waits until the service has sealed every change and assessed every location, which would disturb measurements. */
export const untilAssessed = async ({ size, sql }: Assessed, say: (text: string) => void) => {
  say(`${size}: waiting until every location is assessed`)
  for (;;) {
    const [row] = await sql<[{ readonly isDone: boolean }]>`
      select last_uuid is null and p.position = l.position and not exists (select from stale_location_quality)
          and not exists (select from pending_changes) as "isDone"
      from location_quality_progress p, event_log l`
    if (row.isDone) return
    await sleep(1000)
  }
}
