import type { Field } from "../domain/FilterFields.ts"
import type { PublicUrl } from "../PublicUrl.ts"
import { originsSql } from "./Files.ts"
import type { Answer } from "./RecordSql.ts"

const prefixes: Readonly<Record<string, string>> = { thumbnail: "thumbnail_", preview: "preview_" }

const addressed = /\/files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//i

/**
 * Conditions on the addresses of files. Their signatures change every day and are not searched: a part of an address is
 * looked for in what comes before the `?`. An address with its signature, or the end of one, names its file, and is compared
 * with what that file has; so nobody signs a whole table.
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
    const isSigned = operator === "equals" || text.includes("?")
    if (uuid === undefined) return isSigned ? "false" : compare(address)
    return `(${file} = ${parameters.add(uuid, "uuid")} and ${compare(isSigned ? signed : address)})`
  }
}
