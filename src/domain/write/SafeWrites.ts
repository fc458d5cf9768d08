/** How long the answer to a request with an `Idempotency-Key` is kept. */
export const keptHours = 24

/** Whether a text can be an `Idempotency-Key`: 1 to 255 visible ASCII characters. */
export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text)

/** The preference for validation without a write. */
export const validateOnly = "validate-only"

/** Whether a `Prefer` header has the preference (RFC 7240, 2). */
export const prefersValidateOnly = (header: string): boolean =>
  header.split(",").some((preference) => preference.split(/[;=]/, 1)[0]!.trim().toLowerCase() === validateOnly)
