import { bytesBefore, isWalPosition, type WalPosition, positionHeader } from "../domain/query/WalPosition.ts"

/** The last write of a client, which its reads name, so that they show it whichever node and replica answers. */
export const make = () => {
  let last: WalPosition | undefined
  return {
    headersOf: (method: string): Readonly<Record<string, string>> =>
      method === "GET" && last !== undefined ? { [positionHeader]: last } : {},
    /** Notes the position of an answer, if it has one. */
    note: (method: string, position: string | null | undefined): void => {
      if (method === "GET" || typeof position !== "string" || !isWalPosition(position)) return
      if (last === undefined || bytesBefore(last) < bytesBefore(position)) last = position
    }
  }
}
