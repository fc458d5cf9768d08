import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Permission } from "../../domain/keys/Permission.ts"
import {
  AppliedPlan,
  limits as planLimits,
  Plan,
  PlanChange,
  PlanGuardedError,
  PlanId,
  PlanKind,
  PlanMode,
  PlanNotFoundError,
  PlanOutdatedError,
  PlanResource
} from "../../domain/plans/Plan.ts"
import { InvalidFilterError } from "../../domain/query/Filter.ts"
import { requiresSome } from "../Authorization.ts"
import { describe, group } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { limits, ofManyRecords, ReadsPrimary } from "../Limits.ts"
import { integer, pages } from "../ListQuery.ts"
import { rejects } from "./SafeWrites.ts"

const uuid = { uuid: PlanId }

/** The permissions with a verb of all resources that have plans. */
const some = (verb: "create" | "read") =>
  requiresSome(...PlanResource.literals.map((resource) => `${verb}:${resource}` satisfies Permission))

/** The permissions with some verbs of all resources that have plans, for descriptions. */
const named = (...verbs: ReadonlyArray<string>) =>
  verbs.flatMap((verb) => PlanResource.literals.map((resource) => `\`${verb}:${resource}\``)).join(", ")

const reading = `Needs the permission to read its resource, one of ${named("read")}.`
const writing = `Needs the permissions to read, create and update its resource, and with \`mode=full\` to delete it: of ${named("read", "create", "update", "delete")}.`
const rows = "What its rows need, such as `update:groups` for the groups of users, is needed as well."

/** A file is read as it arrives, in one of several formats; the handler decodes it. */
const File = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/x-ndjson" }))

const examples = [
  { identifier: "UTR-001", name: "Bakkerij De Vries, Utrecht" },
  { identifier: "UTR-002", name: "Bakkerij De Vries, Zeist", address: { city: "Zeist" } }
]

/** The formats of a file in the OpenAPI document, which knows binary bodies only. */
const documented = (operation: object) => ({
  ...operation,
  "x-required-permissions": [],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { type: "array", items: { type: "object", description: "A record, as for its creation." } },
        example: examples
      },
      "application/x-ndjson": {
        schema: {
          type: "string",
          description:
            "A record as JSON on each line, as for its creation. `_row` is its number in issues; the number of the line otherwise. A row with `_refused`, a list of issues with `code` and `message`, is refused with these, and the record that it names is not deleted."
        },
        example: examples.map((record) => `${JSON.stringify(record)}\n`).join("")
      },
      "text/csv": {
        schema: { type: "string", description: "Commas, and the dotted paths of members as titles." },
        example: 'identifier,name,address.city\nUTR-001,"Bakkerij De Vries, Utrecht",Utrecht\n'
      }
    }
  }
})

const planning = { hasSlowBody: true, share: "bulk" } as const

/** Collections that are made equal to files. */
export class PlansApi extends HttpApiGroup.make("plans")
  .annotate(ReadsPrimary, true)
  .add(
    HttpApiEndpoint.post("create", "/", {
      query: {
        resource: PlanResource.annotate({
          description: "The resource that the file has records of.",
          examples: ["locations"]
        }),
        mode: Schema.optionalKey(PlanMode.annotate({ default: "partial" })),
        ignore: Schema.optionalKey(
          Schema.String.annotate({
            description: "Paths of existing records that stay unchanged, separated by commas.",
            examples: ["contact.phone,other"]
          })
        ),
        maxDeletes: Schema.optionalKey(
          integer(0, 100, 10).annotate({
            description: "How many percent of the compared records may be deleted without `force`."
          })
        ),
        filter: Schema.optionalKey(
          Schema.String.annotate({
            description: "Only records that match it are compared and deleted; the grammar is that of lists."
          })
        )
      },
      payload: File,
      success: Envelope.CreatedRecord(Plan),
      error: InvalidFilterError
    })
      .pipe(
        some("create"),
        describe(
          "Plan a collection from a file",
          `Compares a file with the records of a resource by their business keys, and keeps what would change; nothing is written. The file has at most ${planLimits.fileBytes / 1024 ** 2} MiB, and a row ${planLimits.rowLength / 1024 ** 2} MiB. ${writing} Rows that name users, locations or groups also need the permission to update these. If the service guards roles, rows with a \`role\` also need \`update:user-roles\`, but not a row of a new user with \`ROLE_USER\`. A key has at most ${planLimits.live} plans that are not applied.`
        ),
        rejects("validate-only"),
        limits({
          ...planning,
          answerMillis: 600_000,
          afterBodyMillis: ofManyRecords.answerMillis,
          maxBodyBytes: planLimits.fileBytes
        })
      )
      .annotateMerge(OpenApi.Transform.context(documented)),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      success: Envelope.One(Plan),
      error: PlanNotFoundError
    }).pipe(some("read"), describe("Get a plan", `The plan, which lives ${planLimits.hours} hours. ${reading}`)),
    HttpApiEndpoint.get("changes", "/:uuid/changes", {
      params: uuid,
      query: {
        kind: Schema.optionalKey(
          Schema.Literals(PlanKind.literals.filter((kind) => kind !== "unchanged")).annotate({
            description: "Only changes of this kind."
          })
        ),
        ...pages
      },
      success: Envelope.Page(PlanChange),
      error: PlanNotFoundError
    }).pipe(
      some("read"),
      describe(
        "List the changes of a plan",
        `What the plan does to each record, in the order of the file, then the deletions; unchanged records have no entry. A deletion has the members that a file can change, and not what goes with the record: its users, locations or groups, the modules of a product, the media and translation labels of a location. What it adds to the users, locations or groups of a record, and removes from them, is shown with the permission to read these. ${reading}`
      )
    ),
    HttpApiEndpoint.post("apply", "/:uuid/apply", {
      params: uuid,
      payload: Schema.Struct({
        force: Schema.optionalKey(
          Schema.Boolean.annotate({
            description: "Applies the plan although a safety check failed; refused rows are left out."
          })
        )
      }).annotate({ identifier: "PlanApplication" }),
      success: Envelope.One(AppliedPlan),
      error: [PlanNotFoundError, PlanOutdatedError, PlanGuardedError]
    }).pipe(
      some("create"),
      describe(
        "Apply a plan",
        `Does exactly what the plan shows, in one transaction, or nothing. A plan that is applied again answers the same. ${writing} ${rows}`
      ),
      limits(ofManyRecords)
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      success: Envelope.Written(PlanId),
      error: PlanNotFoundError
    }).pipe(some("create"), describe("Delete a plan", `Removes the plan; what it wrote stays. ${writing} ${rows}`))
  )
  .prefix("/v1/plans")
  .annotateMerge(
    group(
      "Plans",
      "What a file would do to a collection: shown before it happens, and applied as a whole or not at all."
    )
  ) {}
