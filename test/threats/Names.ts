import { fileURLToPath } from "node:url"

const words = (text: string) => text.trim().split(/\s+/)

/** Names that attackers who know JavaScript or databases try. */
export const prototypeKeys: ReadonlyArray<string> = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...words(`prototype length name.constructor uuid.__proto__ data then toJSON password passwordHash keyHash hash secret
    secretHash storage_key storageKey isAdmin t.uuid uuid; uuid" 1 * ctid xmin tableoid current_user`),
  "uuid desc"
]

/** The name of a column in the database and its form on the wire. */
export const wireNames = (name: string) => [
  name,
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
]

/** The root folder of the repository. */
const root = fileURLToPath(new URL("../..", import.meta.url))

/** Texts that no error may contain: paths of the code, SQL, and internal names. */
export const internals = new RegExp(
  [
    String.raw`node_modules|(?:\\n|\n) {4}at |\.[jt]s:\d+|file:\/\/|\/(?:src|tmp|home|var)\/`,
    RegExp.escape(root),
    String.raw`SELECT|INSERT|select .*\bfrom\b|postgres|SqlError|PgC|waypost_|\bpg_|relation "|column "|constraint`,
    String.raw`ECONN|ENOENT|127\.0\.0\.1|\[object |undefined|NaN`
  ].join("|"),
  "i"
)
