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
import { maxLimit } from "../../domain/query/PageLimit.ts"
import { defaults } from "../../domain/query/Pagination.ts"
import { requiresSome } from "../Authorization.ts"
import { describe, group } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { limits } from "../Limits.ts"
import { integer } from "../ListQuery.ts"
import { rejects } from "./SafeWrites.ts"

const uuid = { uuid: PlanId }

/** The permissions with a verb of all resources that have plans. */
const some = (verb: "create" | "read") =>
  requiresSome(...PlanResource.literals.map((resource) => `${verb}:${resource}` satisfies Permission))

/** A file is read as it arrives, in one of several formats; the handler decodes it. */
const File = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/x-ndjson" }))

const text = (description: string) => ({ schema: { type: "string", description } })

/** The formats of a file in the OpenAPI document, which knows binary bodies only. */
const fileFormats = OpenApi.Transform.context((operation) => ({
  ...operation,
  requestBody: {
    required: true,
    content: {
      "application/x-ndjson": text(
        "A record as JSON on each line, as for its creation. `_row` is its number in issues; the number of the line otherwise."
      ),
      "application/json": { schema: { type: "array", items: { type: "object" } } },
      "text/csv": text("Commas, and the dotted paths of members as titles: `identifier,name,address.city`.")
    }
  }
}))

const planning = { hasSlowBody: true, share: "bulk" } as const

/** Collections that are made equal to files. */
export class PlansApi extends HttpApiGroup.make("plans")
  .add(
    HttpApiEndpoint.post("create", "/", {
      query: {
        resource: PlanResource,
        mode: Schema.optionalKey(PlanMode.annotate({ default: "partial" })),
        ignore: Schema.optionalKey(
          Schema.String.annotate({
            description: "Paths of existing records that stay as they are, separated by commas.",
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
          `Compares a file with the records of a resource by their business keys, and keeps what would change; nothing is written. The file has at most ${planLimits.fileBytes / 1024 ** 2} MiB. Needs \`read:\`, \`create:\` and \`update:\` of the resource, with \`mode=full\` also \`delete:\`; rows that name users, locations or groups also need \`update:\` of these. A key has at most ${planLimits.live} plans that are not applied.`
        ),
        rejects("validate-only"),
        limits({ ...planning, answerMillis: 720_000, maxBodyBytes: planLimits.fileBytes })
      )
      .annotateMerge(fileFormats),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      success: Envelope.One(Plan),
      error: PlanNotFoundError
    }).pipe(
      some("read"),
      describe("Get a plan", `The plan, which lives ${planLimits.hours} hours. Needs \`read:\` of its resource.`)
    ),
    HttpApiEndpoint.get("changes", "/:uuid/changes", {
      params: uuid,
      query: {
        kind: Schema.optionalKey(Schema.Literals(PlanKind.literals.filter((kind) => kind !== "unchanged"))),
        limit: Schema.optionalKey(integer(1, maxLimit, defaults.limit)),
        page: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER, defaults.page))
      },
      success: Envelope.Page(PlanChange),
      error: PlanNotFoundError
    }).pipe(
      some("read"),
      describe(
        "List the changes of a plan",
        "What the plan does to each record, in the order of the file, then the deletions; records that stay as they are have no entry. Needs `read:` of its resource."
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
        "Does exactly what the plan shows, in one transaction, or nothing. A plan that is applied again answers the same. Needs the permissions of its creation."
      ),
      limits({ share: "bulk", answerMillis: 120_000 })
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      success: Envelope.Written(PlanId),
      error: PlanNotFoundError
    }).pipe(
      some("create"),
      describe("Delete a plan", "Removes the plan; what it wrote stays. Needs the permissions of its creation.")
    )
  )
  .prefix("/v1/plans")
  .annotateMerge(
    group(
      "Plans",
      "What a file would do to a collection: shown before it happens, and applied as a whole or not at all."
    )
  ) {}
