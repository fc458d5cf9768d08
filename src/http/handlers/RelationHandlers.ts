import { Effect, Record, String } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { RelationKind } from "../../domain/write/Relations.ts"
import { Memberships } from "../../repositories/people/Memberships.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"

interface Listed {
  readonly params: { readonly uuid: string }
  readonly query: ListRequest
}

interface Replaced<Id, Member extends RelationKind> {
  readonly params: { readonly uuid: Id }
  readonly payload: { readonly [K in Member]: ReadonlyArray<string> }
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Makes the handlers of a relation, under the names of its operations: the list and the replacement of its members. */
export const make = Effect.map(
  Memberships,
  (memberships) =>
    <const Owner extends RelationKind, const Member extends RelationKind>(owner: Owner, member: Member) => {
      const list = ({ params, query }: Listed) =>
        Envelope.page(Included.permitted(query, memberships.list(owner, params.uuid, member, query)))
      const replace = <Id extends string>({ params, payload, request }: Replaced<Id, Member>) =>
        Envelope.written(memberships.replace(owner, params.uuid, member, payload[member], Envelope.ifMatch(request)))
      return {
        ...Record.singleton(`list${String.capitalize(member)}`, list),
        ...Record.singleton(`update${String.capitalize(member)}`, replace)
      }
    }
)
