import { fileURLToPath } from "node:url"

const words = (text: string) => text.trim().split(/\s+/)

/** What anybody who knows JavaScript, or databases, would try to name. */
export const prototypeKeys: ReadonlyArray<string> = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...words(`prototype length name.constructor uuid.__proto__ data then toJSON password passwordHash keyHash hash secret
    secretHash storage_key storageKey isAdmin t.uuid uuid; uuid" 1 * ctid xmin tableoid current_user`),
  "uuid desc"
]

/** A column as the database calls it, and as the wire would. */
export const wireNames = (name: string) => [
  name,
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
]

/** Where this copy of the code is. */
const root = fileURLToPath(new URL("../..", import.meta.url))

/** What no error says: where the code is, how it asks the database, and what things are called in there. */
export const inside = new RegExp(
  [
    String.raw`node_modules|(?:\\n|\n) {4}at |\.[jt]s:\d+|file:\/\/|\/(?:src|tmp|home|var)\/`,
    RegExp.escape(root),
    String.raw`SELECT|INSERT|select .*\bfrom\b|postgres|SqlError|PgC|waypost_|\bpg_|relation "|column "|constraint`,
    String.raw`ECONN|ENOENT|127\.0\.0\.1|\[object |undefined|NaN`
  ].join("|"),
  "i"
)
