import { maxOperations } from "../../domain/write/Bulk.ts"
import type { Located, Target } from "../../sql/batch/BatchTypes.ts"
import type { Values } from "../../sql/RecordValues.ts"
import type { DecodedOperation } from "./Decoding.ts"
import { memberOf } from "../../domain/schema/Json.ts"

/**
 * Segments of a request: operations that follow each other, on different records, all of them creations and patches or all
 * of them deletions.
 */
export const maxSize = maxOperations

/** The record that an operation names. */
export const targetOf = (operation: DecodedOperation): Target | undefined => {
  if (operation.op === "upsert") return { key: operation.key }
  return operation.op === "update" ? { uuid: operation.uuid } : undefined
}

/** Texts that are the same to some unique rule are the same here; others can be, which only ends a segment early. */
const folded = (text: string) => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll("ς", "σ")

/** What no two records have in common: a member and its value. */
export const identityBy = (member: string, value: string): string => `${member} ${folded(value)}`

/** The identities that a new record takes. */
export const identitiesOf = (values: Values, members: ReadonlyArray<string>): ReadonlyArray<string> =>
  members.flatMap((member) => {
    const value = values[member]
    return typeof value === "string" ? [identityBy(member, value)] : []
  })

/** What two operations on the same record have in common; a creation has nothing yet. */
const identityOf = (operation: DecodedOperation): string | undefined => {
  if (operation.op === "upsert") return `key ${folded(operation.key)}`
  return "uuid" in operation ? operation.uuid : undefined
}

/**
 * The places of the operations from `start` on that are tried together; none if the first one is done alone. Those that do
 * not decode belong to any segment.
 */
export const from = (
  operations: ReadonlyArray<DecodedOperation>,
  start: number,
  { deletes, size }: { readonly size: number; readonly deletes: boolean }
): { readonly indexes: ReadonlyArray<number>; readonly isRemoval: boolean } => {
  const indexes: Array<number> = []
  const seen = new Set<string>()
  let isRemoval: boolean | undefined
  for (let index = start; index < operations.length && indexes.length < size; index++) {
    const operation = operations[index]!
    if (operation.op !== "rejected") {
      isRemoval ??= operation.op === "delete"
      const identity = identityOf(operation)
      if ((operation.op === "delete") !== isRemoval || (isRemoval && !deletes)) break
      if (hasPrecondition(operation) || (identity !== undefined && seen.has(identity))) break
      if (identity !== undefined) seen.add(identity)
    }
    indexes.push(index)
  }
  return { indexes, isRemoval: isRemoval ?? false }
}

const hasPrecondition = (operation: DecodedOperation) =>
  "precondition" in operation && operation.precondition !== undefined

/** Whether a patch changes a value that no two records share: others can then take the old one, or have the new one. */
export const changesUnique = ({ unique }: Located, values: Values): boolean =>
  Object.keys(unique).some((member) => values[member] !== undefined && (values[member] ?? null) !== unique[member])

/** The members that have values. */
export const membersOf = (values: Values): string =>
  Object.keys(values)
    .filter((member) => values[member] !== undefined)
    .toSorted()
    .join(" ")

/** The value of a member in the data of an operation. */
export const valueOf = (operation: DecodedOperation, member: string): unknown => {
  const data = "payload" in operation ? operation.payload : "data" in operation ? operation.data : undefined
  return memberOf(data, member)
}
