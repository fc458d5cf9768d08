import type { Schema } from "effect"
import { Array as Arr, SchemaAST, String as Str } from "effect"
import { Statement } from "effect/sql"
import type { Condition } from "../domain/query/FilterConditions.ts"
import { type Field, fieldsOf } from "../domain/query/FilterFields.ts"
import { membersOf } from "../domain/query/Selection.ts"
import { compact, type Fragment, sql } from "./Fragment.ts"

/**
 * SQL derived from a record's response schema, in one walk that serves answers, filters, sorting and writes.
 *
 * A member is a column of the same name in snake case: scalars as scalars, nested objects as `jsonb` in exactly their
 * wire form, lists of text as `text[]`. So PostgreSQL can build the answer's JSON itself (measured: 2.5 times the
 * throughput of decoding rows and encoding them again), and a new member is declared once.
 */
export type ColumnKind = "uuid" | "text" | "timestamp" | "number" | "boolean" | "list" | "json"

export interface Column {
  readonly member: string
  /** The name of the column; a computed member has none. */
  readonly name: Fragment | undefined
  readonly kind: ColumnKind
  /** The column of the row, or the expression of a computed member. */
  readonly sql: Fragment
  /** The fields of the member. */
  readonly fields: ReadonlyArray<Field>
  /** The condition on a computed member, where it need not be computed for every row. */
  readonly condition?: ComputedCondition | undefined
  /** The columns that hold the value at a path in this one. */
  readonly paths?: Readonly<Record<string, Fragment>> | undefined
  /** The dotted paths of the lists of objects in it. */
  readonly lists?: ReadonlySet<string> | undefined
  /** The expression for some of its members, where it is made of the columns of other records. */
  readonly of?: ((some: (columns: ReadonlyArray<Column>) => ReadonlyArray<Column>) => Fragment) | undefined
}

/** The SQL of a condition on a field; `compare` gives that on an expression of it. */
export type ComputedCondition = (
  field: Field,
  compare: (expression: Fragment) => Fragment,
  condition: Condition
) => Fragment

/** Members that no column holds under their name alone: an expression, or another column. */
export type Computed = Readonly<
  Record<string, Fragment | Pick<Column, "sql" | "condition"> | (Pick<Column, "paths"> & { readonly column: string })>
>

/** A column that holds its member. */
export interface StoredColumn extends Column {
  readonly name: Fragment
}

export const isStored = (column: Column): column is StoredColumn => column.name !== undefined

/** The type of a column, to which its values are cast so that PostgreSQL need not infer it. */
export const types: Readonly<Record<ColumnKind, Fragment>> = {
  uuid: sql.literal("uuid"),
  text: sql.literal("text"),
  timestamp: sql.literal("timestamptz"),
  number: sql.literal("float8"),
  boolean: sql.literal("boolean"),
  list: sql.literal("text[]"),
  json: sql.literal("jsonb")
}

/** A column of the table, by the alias of the table in every statement. */
export const row = (column: string): Fragment => sql.literal(`t.${column}`)

/** Text sorts and compares the same on every server, whatever its default collation is. */
export const collation = sql.literal('collate "und-x-icu"')

const isTextList = (ast: SchemaAST.AST) => SchemaAST.isArrays(ast) && !SchemaAST.isObjects(ast.rest[0] ?? ast)

/** The column that holds a member. */
export const columnOf = (member: string, kind: ColumnKind, column = Str.camelToSnake(member)): StoredColumn => ({
  member,
  name: sql.literal(column),
  kind,
  sql: row(column),
  fields: []
})

/** The columns of a record; `computed` gives the members that no column holds under their name. */
export const columnsOf = (record: Schema.Top, computed: Computed = {}): ReadonlyArray<Column> => {
  const ast = SchemaAST.toEncoded(record.ast)
  if (!SchemaAST.isObjects(ast)) return []
  const fields = Arr.groupBy(fieldsOf(record), ({ segments }) => segments[0]!)
  return ast.propertySignatures.map(({ name, type }) => {
    const member = String(name)
    const own = fields[member] ?? []
    const isJson = SchemaAST.isObjects(type) || (SchemaAST.isArrays(type) && !isTextList(type))
    const kind = isJson ? "json" : kindOf(own.find(({ path }) => path === member))
    const given = computed[member]
    const facts = { fields: own, lists: listsOf(member, type) }
    if (given === undefined) return { ...columnOf(member, kind), ...facts }
    if (Statement.isFragment(given)) return { member, kind, name: undefined, sql: given, ...facts }
    return "column" in given
      ? { ...columnOf(member, kind, given.column), paths: given.paths, ...facts }
      : { member, kind, name: undefined, ...facts, ...given }
  })
}

/** The paths of the lists of objects in a member. */
const listsOf = (member: string, type: SchemaAST.AST): ReadonlySet<string> =>
  new Set(membersOf(type, [member]).flatMap(({ isList, path }) => (isList ? [path] : [])))

const kindOf = (field: Field | undefined): ColumnKind => {
  if (field === undefined) return "json"
  if (field.lists.length > 0) return "list"
  switch (field.kind) {
    case "date":
      return "timestamp"
    case "uuid":
      return "uuid"
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    default:
      return "text"
  }
}

/** The columns of an answer, some with another expression. */
export const shownOf = (
  columns: ReadonlyArray<Column>,
  members: Readonly<Record<string, Fragment>> = {}
): ReadonlyArray<Column> =>
  columns.map((column) => {
    const shown = members[column.member]
    return shown === undefined ? column : { ...column, name: undefined, sql: shown }
  })

/** All columns but the extras that were not requested. */
export const withoutExtras = (
  columns: ReadonlyArray<Column>,
  extras: ReadonlyArray<string> = [],
  include: ReadonlyArray<string> = []
): ReadonlyArray<Column> => columns.filter(({ member }) => !extras.includes(member) || include.includes(member))

/** A point in time as the wire prints it. */
export const timestampJson = (time: Fragment): Fragment =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The JSON text of a value; null where there is none. */
const textOf = ({ kind, name, sql: value }: Column): Fragment => {
  switch (kind) {
    case "uuid":
      return sql`'"' || ${value} || '"'`
    case "timestamp":
      return sql`'"' || ${timestampJson(value)} || '"'`
    case "number":
    case "boolean":
      return sql`(${value})::text`
    case "text":
    case "list":
      return sql`to_json(${value})::text`
    case "json":
      // A column has no null in its objects; an expression may have.
      return name === undefined ? sql`json_strip_nulls(to_json(${value}))::text` : sql`(${value})::text`
  }
}

/**
 * The expression that builds the record's JSON text, unset members absent. The text is put together of the texts of the
 * members, because a function that builds JSON of all of them reads each of them once more to leave out nulls.
 */
export const jsonOf = (columns: ReadonlyArray<Column>): Fragment => {
  const members = columns.map((column) => sql`${sql.literal(`',"${column.member}":' || `)}${textOf(column)}`)
  return compact(sql`'{' || substr(concat(${sql.csv(members)}), 2) || '}'`)
}

/** The expression that builds the record as JSON, unset members absent. */
export const recordOf = (columns: ReadonlyArray<Column>): Fragment => sql`(${jsonOf(columns)})::json`

/** The expression of a field as text (`string`, `uuid`, `enum`) or as the type that its kind compares. */
export const expressionOf = (column: Column, field: Field): Fragment => {
  const path = field.segments.slice(1)
  if (path.length === 0) return column.sql
  return column.paths?.[path.join(".")] ?? typed(field, extract(column.sql, path))
}

/** The name of a member of the schema as an SQL text; written out, because indexes are on such expressions. */
const key = (member: string): Fragment => sql.literal(`'${member}'`)

/** The JSON at a path in a `jsonb` expression. */
export const descend = (json: Fragment, path: ReadonlyArray<string>): Fragment =>
  path.reduce((inner, member) => sql`${inner}->${key(member)}`, json)

/** The text at a path in a `jsonb` expression. */
export const extract = (json: Fragment, path: ReadonlyArray<string>): Fragment =>
  sql`${descend(json, path.slice(0, -1))}->>${key(path.at(-1)!)}`

const casts: Readonly<Record<string, Fragment>> = {
  number: sql.literal("::float8"),
  boolean: sql.literal("::boolean"),
  date: sql.literal("::timestamptz"),
  uuid: sql.literal("::uuid")
}

/** A text out of a `jsonb` value as the type that the field's kind compares. */
export const typed = (field: Field, text: Fragment): Fragment => sql`(${text})${casts[field.kind] ?? sql.literal("")}`
