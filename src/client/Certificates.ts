/** The codes of Node for a certificate whose issuer it does not know. */
export const untrusted: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

/** The codes for a certificate that is outdated, or of another host. */
export const invalid: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID"
])

/** Whether the certificate of the service was rejected, which Node says in the cause of the error. */
export const isRejected = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = "code" in error ? String(error.code) : ""
  return untrusted.has(code) || invalid.has(code) || isRejected(error.cause)
}
