/** What a write did to a record: the answer, the audit log and the change log are made from it. */
export interface Written<Kind extends string = string, Id extends string = string> {
  readonly kind: Kind
  readonly uuid: Id
  readonly action: "created" | "updated" | "deleted"
  /** False if the record had all of the written values already. */
  readonly changed: boolean
  /** Identifies the set of relations that the write left. */
  readonly setTag?: string
  /** The other records that the same write changed. */
  readonly also?: ReadonlyArray<Written>
}

/** A write that answers more than the uuid of its record. */
export interface WrittenWith<Kind extends string, Id extends string, Answer> extends Written<Kind, Id> {
  readonly answer: Answer
}

export const created = <Kind extends string, Id extends string>(kind: Kind, uuid: Id): Written<Kind, Id> => ({
  kind,
  uuid,
  action: "created",
  changed: true
})

export const updated = <Kind extends string, Id extends string>(
  kind: Kind,
  uuid: Id,
  changed: boolean
): Written<Kind, Id> => ({ kind, uuid, action: "updated", changed })

export const deleted = <Kind extends string, Id extends string>(
  kind: Kind,
  uuid: Id,
  changed = true
): Written<Kind, Id> => ({ kind, uuid, action: "deleted", changed })
