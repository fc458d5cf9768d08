import { Schema } from "effect"
import { matching } from "../../schema/Checks.ts"
import { formed, text, Timestamp, WebUrl } from "../../schema/Fields.ts"
import { choice, list } from "../ModuleFields.ts"
import { readOnly, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { inRange, int } from "../../schema/WholeNumber.ts"

const endpoint = WebUrl.check(matching(/^https:/i, "an https URL such as https://example.com"))

const headerName = Schema.String.check(
  matching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/, "the name of a header such as X-Order-Source")
)

const source = formed(255, {
  pattern: /^[A-Za-z]\w*(?:\.\w+)*$/,
  expected: "a dotted path such as location.identifier",
  example: "location.identifier"
})

const callStatus = Schema.Literals(["ok", "failed"])

/** A call of the other system, reported by the system that made it; without `at` it was made now. */
export const ApiCall = Schema.Struct({
  at: Schema.optionalKey(Schema.NullOr(Timestamp)).annotateKey({ description: "Now if it is left out." }),
  status: callStatus,
  httpStatus: Schema.Int.check(inRange(100, 599)).annotate({
    description: "The status that the other system answered with.",
    examples: [200]
  })
}).annotate({ identifier: "ApiCall" })
export type ApiCall = typeof ApiCall.Type

/** How an order line for the product reaches another system. */
export const ApiModule = Module.make("api", {
  provider: withDefault(text(50), "custom"),
  externalId: Schema.optionalKey(
    text(255).pipe(Schema.annotateEncoded({ description: "The product's id in the other system." }))
  ),
  endpoint: Schema.optionalKey(endpoint),
  method: choice(["POST", "PUT"], "POST"),
  trigger: choice(["orderPlaced", "orderApproved", "orderCompleted", "manual"], "orderApproved"),
  headerNames: list(headerName, { max: 50, of: "headers" }).annotate({
    description: "Names only: the values are secrets and are never returned."
  }),
  fieldMapping: list(Schema.Struct({ source, target: text(255) }), { max: 100, of: "mappings" }),
  timeoutSeconds: withDefault(int(1, 60), 10),
  lastCall: Schema.optionalKey(
    readOnly(
      Schema.Struct({
        at: Timestamp,
        status: callStatus,
        httpStatus: Schema.optionalKey(Schema.Int)
      })
    )
  )
})
