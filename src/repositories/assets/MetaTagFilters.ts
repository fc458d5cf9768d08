import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { Asset } from "../../domain/assets/Asset.ts"
import type { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { fieldOf } from "../../domain/assets/metaTags/MetaTagField.ts"
import { InvalidFilterError, resolve } from "../../domain/query/Filter.ts"
import { type Condition, find, maxListed } from "../../domain/query/FilterConditions.ts"
import { type Field, filterableOf } from "../../domain/query/FilterFields.ts"
import { type Column, type ComputedCondition, typed } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

interface Definition extends Pick<MetaTagDefinition, "uuid" | "key" | "type" | "filterable"> {
  /** The keys of its options: the first ones, and those that the filter names. */
  readonly options: ReadonlyArray<string>
}

/** Every definition, for the names that are near one; options only of those that are named. */
const definitionsSql = (names: ReadonlyArray<string>, values: ReadonlyArray<string>): Fragment => sql`
  select d.uuid, d.key, d.type, d.filterable, case when lower(d.key) = any (${names}::text[]) then array(
      select option->>'key' from jsonb_array_elements(d.options) with ordinality listed (option, place)
      where place <= ${maxListed + 1}::int or option->>'key' = any (${values}::text[]) order by place
    ) else '{}' end as options
  from meta_tag_definitions d order by d.position, d.key`

const valueTypes: Readonly<Partial<Record<Field["kind"], Fragment>>> = {
  number: sql.literal("float8"),
  boolean: sql.literal("boolean")
}

/**
 * Some value of the definition meets the condition. PostgreSQL may look at a value before it looks at whose it is, so no
 * expression fails on values of other types.
 */
const conditionOn =
  ({ type, uuid }: Definition): ComputedCondition =>
  (field, compare, { operator, value }) => {
    const ofDefinition = sql`m.definition_uuid = ${uuid}::uuid`
    const text = sql`m.value #>> '{}'`
    const holds = () => {
      if (field.kind === "date") {
        const moment = type === "date" ? sql`${text} || 'T00:00:00.000Z'` : text
        return compare(sql`(case when ${ofDefinition} then (${moment})::timestamptz end)`)
      }
      // The operator that the index on the values serves; a list contains its elements.
      if (operator === "equals") {
        return sql`m.value @> to_jsonb(${value}::${valueTypes[field.kind] ?? sql.literal("text")})`
      }
      if (field.lists.length > 0) {
        return sql`exists (select from jsonb_path_query(m.value, 'lax $[*]') named where ${compare(sql`(named #>> '{}')`)})`
      }
      if (field.kind === "number")
        return compare(sql`(case jsonb_typeof(m.value) when 'number' then m.value::float8 end)`)
      return field.kind === "boolean"
        ? compare(sql`(case jsonb_typeof(m.value) when 'boolean' then m.value::boolean end)`)
        : compare(typed(field, text))
    }
    return sql`t.uuid in (select m.asset_uuid from asset_meta_tags m where ${ofDefinition} and ${holds()})`
  }

const columnOf = (definition: Definition): Column => {
  const field = fieldOf(definition)
  return {
    member: field.path,
    name: undefined,
    kind: "json",
    sql: sql`(select m.value from asset_meta_tags m
    where m.asset_uuid = t.uuid and m.definition_uuid = ${definition.uuid}::uuid)`,
    fields: [field],
    condition: conditionOn(definition)
  }
}

const ownFields = filterableOf(Asset)

const notFilterable = ({ field, index, start, text }: NonNullable<Condition["sent"]>) =>
  new InvalidFilterError({
    code: "unknownField",
    message: `The meta tag of "${field}" is not filterable; its definition has to say "filterable": true`,
    condition: text,
    index,
    position: start,
    suggestions: []
  })

/** A filter of assets whose conditions on `metaTags.<key>` are checked by their definitions, and the columns of those. */
export const resolveMetaTags = Effect.fnUntraced(function* (
  client: SqlClient.SqlClient,
  filter: ReadonlyArray<Condition> | undefined
) {
  const sent = (filter ?? []).flatMap((condition) => condition.sent ?? [])
  if (filter === undefined || sent.length === 0) return { filter, keyed: undefined }
  const names = sent.map(({ field }) => field.slice(field.indexOf(".") + 1).toLowerCase())
  const definitions = yield* Effect.orDie(
    client<Definition>`${definitionsSql(
      names.filter((name) => /^\w+$/.test(name)),
      sent.flatMap(({ value, values = [{ value }] }) => values.map((one) => one.value.normalize("NFC")))
    )}`
  )
  const shown = definitions
    .filter(({ filterable }) => filterable)
    .map((definition) => ({ definition, field: fieldOf(definition) }))
  const hidden = definitions.filter(({ filterable }) => !filterable).map(fieldOf)
  const fields = [...ownFields, ...shown.map(({ field }) => field)]
  const unfilterable = sent.find((named) => find(fields, named) === undefined && find(hidden, named) !== undefined)
  if (unfilterable !== undefined) return yield* notFilterable(unfilterable)
  const resolved = yield* Effect.fromResult(resolve(fields, filter))
  const used = shown.filter(({ field: { path } }) => resolved.some(({ field }) => field === path))
  return { filter: resolved, keyed: used.map(({ definition }) => columnOf(definition)) }
})
