import type { Schema } from "effect"
import type { Annotatable } from "../Annotations.ts"
import { operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { Delta } from "../../domain/changes/Delta.ts"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { after, limit } from "./EventQuery.ts"

/** The schemas of the delta of a resource; `name` is that of the type of its records. */
export const delta = <Id extends Schema.Top, S extends Schema.Top>(id: Id, record: S, name: string) => ({
  query: { after, limit: limit(100) },
  success: Envelope.CursorPage(Delta(id, record, name)),
  error: CursorExpiredError
})

/** The permission and the description of the delta of a resource, whose name people read as `subject`. */
export const mirroring =
  (permission: Permission, subject: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    operation(
      permission,
      `Mirror ${subject}`,
      `Every record there is, then every record whose answer changed, as it is now, also because another record changed; \`deleted\` for those that are gone, or that this key never received. A copy to which the pages are applied in order is exact once \`more\` is false. Keep \`cursor\` with the copy and pass it as \`after\`. Signed addresses that change do not count. A key that gains or loses a permission starts over without \`after\`.`
    )(endpoint)
