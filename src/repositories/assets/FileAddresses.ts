import type { Field } from "../../domain/query/FilterFields.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { originsSql } from "./Files.ts"
import type { Answer } from "../../sql/Columns.ts"

const prefixes: Readonly<Record<string, string>> = { thumbnail: "thumbnail_", preview: "preview_" }

const addressed = /\/files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//i

/** What can stand behind the `?` of an address: when it expires, and its signature. */
const signature = /^[a-z0-9_=&-]{1,80}$/

/**
 * Conditions on the addresses of files. Signing one costs fifty microseconds, so that a table is only signed where a part of a
 * signature was asked for: a text that cannot stand behind the `?` is looked for before it, and one that names its file is
 * compared with what that file has.
 */
export const addressCondition = (publicUrl: PublicUrl["Service"], file: string, owner: string): Answer => {
  const [origin, cdn] = originsSql(publicUrl)
  const addressOf = (field: Field) => {
    const kind = field.segments.at(-1)!
    const prefix = prefixes[kind] ?? ""
    const address = `${kind === "cdnUrl" ? cdn : origin} || '/files/' || ${file} || '/${prefix}' || ${owner}.url_name`
    return {
      address: `(${address})`,
      signed: `(${address} || waypost_file_query(${file}, '${prefix}' || ${owner}.path_name))`
    }
  }
  return (field, compare, { operator, value }, parameters) => {
    const text = String(value)
    const { address, signed } = addressOf(field)
    const uuid = addressed.exec(text)?.[1]
    const hasQuery = text.includes("?")
    const isWhole = operator === "equals" || operator === "startsWith"
    if (uuid !== undefined) {
      const named = `${file} = ${parameters.add(uuid, "uuid")}`
      // Every address ends with its signature.
      const compared = hasQuery || operator === "equals" || operator === "endsWith" ? signed : address
      return `(${named} and ${compare(compared)})`
    }
    if (hasQuery) return isWhole ? "false" : compare(signed)
    if (operator === "equals") return "false"
    const inSignature = operator !== "startsWith" && signature.test(text.toLowerCase())
    if (operator === "endsWith") return inSignature ? compare(signed) : "false"
    return inSignature ? `(${compare(address)} or ${compare(signed)})` : compare(address)
  }
}
