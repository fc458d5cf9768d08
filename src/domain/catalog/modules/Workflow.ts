import { Schema } from "effect"
import { distinct } from "../../schema/Distinct.ts"
import { text, Uuid } from "../../schema/Fields.ts"
import { Money } from "../../schema/Money.ts"
import { choice, flag, list, partUuid, position, unless } from "../ModuleFields.ts"
import { references, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { User } from "../../people/User.ts"
import { UserId } from "../../people/UserId.ts"
import { int } from "../../schema/WholeNumber.ts"

const Approvers = Schema.Struct({
  type: Schema.Literals(["users", "groups", "role", "locationManagers"]),
  uuids: distinct(Uuid, 1000, "approvers")
    .pipe(Schema.annotateEncoded({ description: "The users or the groups." }))
    .pipe(references({ by: "type", kinds: { users: "users", groups: "groups" } })),
  role: Schema.optionalKey(User.fields.role)
})
type Approvers = (typeof Approvers)["Encoded"]

const Step = Schema.Struct({
  uuid: partUuid,
  position,
  name: text(150),
  approvers: Approvers,
  requiredApprovals: withDefault(int(1, 1000), 1),
  dueInHours: Schema.optionalKey(int(1, 8760)),
  escalateTo: Schema.optionalKey(UserId.pipe(references("users"))),
  onReject: choice(["stop", "back"], "stop")
})

const isListed = (type: Approvers["type"]): type is "users" | "groups" => type === "users" || type === "groups"

const approversOf = ({ role, type, uuids }: Approvers, required: number, path: string) => [
  ...unless(!isListed(type) || uuids.length > 0, `${path}.uuids`, "required", `Approvers of type ${type} need uuids`),
  ...unless(
    isListed(type) || uuids.length === 0,
    `${path}.uuids`,
    "notAllowed",
    "Only approvers of type users and groups have uuids"
  ),
  ...unless(type !== "role" || role !== undefined, `${path}.role`, "required", "Approvers of type role need a role"),
  ...unless(
    type !== "users" || uuids.length === 0 || required <= uuids.length,
    `${path}.uuids`,
    "tooFew",
    `${required} approvals cannot come from ${uuids.length} users`
  )
]

/** Who has to agree before the product is delivered. */
export const WorkflowModule = Module.make(
  "workflow",
  {
    workflowUuid: partUuid,
    name: Schema.optionalKey(text(150)),
    trigger: choice(["onOrder", "onDownload", "onPublish"], "onOrder"),
    steps: list(Step, { max: 10, min: 1, of: "steps", uniqueBy: "uuid" }),
    autoApproveBelow: Schema.optionalKey(Money),
    allowSelfApproval: flag(false),
    notifyRequester: flag(true)
  },
  ({ steps }) =>
    steps.flatMap(({ approvers, requiredApprovals }, index) =>
      approversOf(approvers, requiredApprovals, `steps.${index}.approvers`)
    )
)
