import { Effect } from "effect"
import { includedPermissions } from "../../../domain/query/Include.ts"
import type { Selection } from "../../../domain/query/Selection.ts"
import { InvalidRequestError } from "../../../domain/write/RequestErrors.ts"
import * as Keyset from "../../../sql/lists/Keyset.ts"
import { demand } from "../../transport/Authorization.ts"

/** Reads records if the key may read those that the answer includes. What is wrong with the query comes first. */
export const permitted = <A, E, R>(
  { include = [], ...request }: Selection & Parameters<typeof Keyset.check>[0],
  read: Effect.Effect<A, E, R>
) =>
  Keyset.check(request).pipe(
    Effect.andThen(demand(...include.map((name) => includedPermissions[name]))),
    Effect.andThen(read)
  )

/** Ends the request if an answer of the past would include other records. */
export const notInPast = ({ include = [] }: Selection) => {
  const name = include.find((name) => name in includedPermissions)
  const message = "A read of the past does not include other records; leave out `include` or `at`"
  return name === undefined ? Effect.void : Effect.die(InvalidRequestError.at("query", "include", "notInPast", message))
}
