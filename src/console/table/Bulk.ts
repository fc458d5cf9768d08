import { useMutation, useQueryClient } from "@tanstack/react-query"
import definition from "virtual:definition"
import type { Json } from "../../domain/schema/Json.ts"
import { call } from "../data/Calls.ts"
import type { Action } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"

/** An operation that failed, and why. */
export interface Failed {
  readonly uuid: string
  readonly error: unknown
}

interface Operation extends Json {
  readonly uuid: string
}

/**
 * Writes records with bulk requests, and returns what failed. After a request that failed as a whole none is sent: its operations
 * and those of the others failed, and what was written before it is written.
 */
export const useBulk = (action: Action | undefined) => {
  const { client } = useSession()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (all: ReadonlyArray<Operation>): Promise<ReadonlyArray<Failed>> => {
      const failed: Array<Failed> = []
      for (let from = 0; from < all.length; from += definition.maxOperations) {
        const operations = all.slice(from, from + definition.maxOperations)
        const answer = await call<{ readonly data: ReadonlyArray<Json> }>(client, action!, { operations }).result()
        if (answer.error !== undefined) {
          const { error } = answer
          return [...failed, ...all.slice(from).map(({ uuid }) => ({ uuid, error }))]
        }
        for (const [index, { uuid }] of operations.entries()) {
          const error = answer.data.data[index]?.["error"]
          if (error !== undefined) failed.push({ uuid, error })
        }
      }
      return failed
    },
    onSettled: () => queries.invalidateQueries()
  })
}
