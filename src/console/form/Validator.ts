import { Validator } from "@cfworker/json-schema"
import type { ValidatorType } from "@rjsf/utils"

/**
 * The service checks what a form sends, and answers with every problem at once. Here a schema only decides which of several
 * alternatives a value is, by a validator that generates no code: the Content-Security-Policy forbids that.
 */
export const validator: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
  isValid: (schema, value, root) => {
    const { $defs } = root
    // rjsf marks what it has looked at.
    const { __rjsf_rootSchema: _, ...plain } = schema
    return new Validator({ ...plain, ...($defs === undefined ? {} : { $defs }) } as object, "2020-12").validate(value)
      .valid
  },
  reset: () => undefined
}
