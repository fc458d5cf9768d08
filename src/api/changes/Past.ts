import { Schema } from "effect"
import { Timestamp } from "../../domain/schema/Fields.ts"

/** The time of a read of the past. */
export const at = {
  at: Schema.optionalKey(
    Timestamp.pipe(
      Schema.annotateEncoded({
        description:
          "Returns the record as it was at this time, computed members included; addresses are current. It cannot be combined with an `include` of other records."
      })
    )
  )
}
