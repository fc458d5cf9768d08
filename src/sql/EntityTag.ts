import { hash } from "node:crypto"

/**
 * The entity tag of a JSON text, or of bytes. It is taken from what the client sees and not from a version column, so it also
 * changes with members that other rows contribute.
 */
export const entityTag = (json: string | Uint8Array): string => `"${hash("sha1", json, "base64url")}"`
