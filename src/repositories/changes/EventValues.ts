import { Predicate, Record, type Schema, SchemaAST, String as Str } from "effect"
import { differing, type Leaf, unloggedMembers } from "../../domain/changes/Leaves.ts"
import type { RecordType } from "../../domain/changes/RecordType.ts"
import { Webhook } from "../../domain/changes/Webhook.ts"
import { ApiKey } from "../../domain/keys/ApiKey.ts"
import { fieldsOf } from "../../domain/query/FilterFields.ts"
import { schemas } from "./RecordKinds.ts"

/** The columns of a record as the log has them, by name. */
export type State = Readonly<Record<string, unknown>>

interface Member {
  readonly member: string
  readonly isTimestamp: boolean
}

/** The members of a record by their column, which has the same name in snake case unless `renamed` says otherwise. */
const membersOf = (record: Schema.Top, renamed: Readonly<Record<string, string>> = {}): ReadonlyMap<string, Member> => {
  const ast = SchemaAST.toEncoded(record.ast)
  const names = SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
  const timestamps = new Set(fieldsOf(record).flatMap(({ kind, path }) => (kind === "date" ? [path] : [])))
  const columns = new Map(Object.entries(renamed).map(([column, member]) => [member, column]))
  return new Map(
    [...new Set([...names, ...columns.keys()])]
      .filter((member) => !unloggedMembers.has(member))
      .map((member) => [
        columns.get(member) ?? Str.camelToSnake(member),
        { member, isTimestamp: timestamps.has(member) }
      ])
  )
}

const members: Readonly<Record<RecordType, ReadonlyMap<string, Member>>> = {
  ...Record.map(schemas, (record) => membersOf(record)),
  asset: membersOf(schemas.asset, { file_uuid: "fileUuid" }),
  metaTag: membersOf(schemas.metaTag, { form_group: "group" }),
  apiKey: membersOf(ApiKey),
  webhook: membersOf(Webhook)
}

/** A category in the log, which has its key as it was. */
interface Category {
  readonly uuid: string
  readonly key: string
}

/** An item of the media of a location in the log. */
interface MediaItem {
  readonly isLogo: boolean
}

const mediaOf = (rows: unknown) => {
  if (!Array.isArray(rows)) return undefined
  const items = rows.map(({ isLogo, ...item }: MediaItem) => ({ isLogo, item }))
  return {
    logo: items.find(({ isLogo }) => isLogo)?.item,
    items: items.filter(({ isLogo }) => !isLogo).map(({ item }) => item)
  }
}

const keysOf = (categories: unknown) =>
  Array.isArray(categories)
    ? categories.map((category: string | Category) => (typeof category === "string" ? category : category.key))
    : categories

const timestamp = (value: unknown) => (typeof value === "string" ? new Date(value).toISOString() : value)

/** The value of a column as the API answers it. */
const shown = (column: string, { isTimestamp }: Member, value: unknown) => {
  if (isTimestamp) return timestamp(value)
  if (column === "media") return mediaOf(value)
  return column === "categories" ? keysOf(value) : value
}

/** A value of an asset in the log: the key of the definition as it was, and the value. */
interface MetaTagState {
  readonly key: string
  readonly value: unknown
}

const isMetaTag = (value: unknown): value is MetaTagState =>
  Predicate.hasProperty(value, "key") && Predicate.hasProperty(value, "value")

const metaTag = (before: MetaTagState | undefined, after: MetaTagState | undefined): Leaf => ({
  path: `metaTags.${(after ?? before)?.key}`,
  ...(before ? { before: before.value } : {}),
  ...(after ? { after: after.value } : {})
})

/** The members of a record that differ between two states of its columns, as the API answers them. */
export const changesOf = (type: RecordType, before: State | null, after: State | null): ReadonlyArray<Leaf> => {
  const columns = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...columns].flatMap((column) => {
    const [was, is] = [before?.[column], after?.[column]]
    if (column.startsWith("metaTags.")) {
      return [metaTag(isMetaTag(was) ? was : undefined, isMetaTag(is) ? is : undefined)]
    }
    if (column.startsWith("modules.")) return differing(column, was, is)
    const member = members[type].get(column)
    return member === undefined ? [] : differing(member.member, shown(column, member, was), shown(column, member, is))
  })
}
