import { Schema } from "effect"

/**
 * Words of responses to which later releases of `/v1` add. The document names the words and allows any text, and so does the
 * typed client, which decodes the responses of a later release.
 */
export const openWords = <const Words extends ReadonlyArray<string>>(words: Words) =>
  Schema.Union([Schema.Literals(words), Schema.StringForLiteralAutocomplete]).annotate({
    description: "Later releases may add words."
  })
