import type { StoredEvent } from "../../../src/repositories/changes/EventLog.ts"

/** An update of a location as the log has it, with other members. */
export const storedEvent = (members: Partial<StoredEvent> = {}): StoredEvent => ({
  position: 1,
  id: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e31",
  type: "location",
  action: "updated",
  uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e32",
  occurredAt: "2026-01-01T00:00:00.000Z",
  actor: { type: "system" },
  actorName: null,
  label: null,
  before: {},
  after: {},
  links: null,
  bytes: 2,
  ...members
})
