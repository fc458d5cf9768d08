import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"

interface Assessed {
  readonly size: number
  readonly sql: Sql
}

/** Waits until the service has sealed every change and assessed every location, which would disturb measurements. */
export const untilAssessed = async ({ size, sql }: Assessed, say: (text: string) => void) => {
  for (let shown = -1; ; await sleep(1000)) {
    const [row] = await sql<[{ readonly done: number; readonly isDone: boolean }]>`
      select (select sum(delta)::int from row_counts where relation = 'location_quality') as done,
        last_uuid is null and p.position = l.position and not exists (select from stale_location_quality)
          and not exists (select from pending_changes) as "isDone"
      from location_quality_progress p, event_log l`
    if (row.isDone) return
    const tenths = Math.floor((row.done / size) * 10)
    if (tenths > shown) say(`${size}: the quality of ${row.done} locations is assessed`)
    shown = Math.max(shown, tenths)
  }
}
