import type { Schema } from "effect"
import { SchemaAST, String as Str } from "effect"
import { type Field, fieldsOf } from "../domain/query/FilterFields.ts"

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
  readonly kind: ColumnKind
  /** The column, or the expression of a computed member. */
  readonly sql: string
  /** How a condition on a computed member is answered without computing it for every row. */
  readonly condition?: Answer | undefined
  /** Columns that hold what is at a path in this one. */
  readonly paths?: Readonly<Record<string, string>> | undefined
}

/** The SQL of a condition; `compare` gives that of an expression of the field. */
export type Answer = (field: Field, compare: (sql: string) => string) => string

/** Expressions of members that no column holds. */
export type Computed = Readonly<Record<string, string | Pick<Column, "sql" | "condition" | "paths">>>

/** The SQL type a parameter for the column is cast to: PostgreSQL then never has to guess it. */
export const castOf: Readonly<Record<ColumnKind, string>> = {
  uuid: "uuid",
  text: "text",
  timestamp: "timestamptz",
  number: "float8",
  boolean: "boolean",
  list: "text[]",
  json: "jsonb"
}

/** The alias under which every statement here knows its table. */
export const alias = "t"

/** Text sorts and compares the same on every server, whatever its default collation is. */
export const collation = 'collate "und-x-icu"'

/** Whether a column of the table holds the member, under whatever name. */
export const isColumn = ({ sql }: Column) => /^t\.\w+$/.test(sql)

const isTextList = (ast: SchemaAST.AST) => SchemaAST.isArrays(ast) && !SchemaAST.isObjects(ast.rest[0] ?? ast)

/** The columns of a record; `computed` gives the expression of members that no column holds. */
export const columnsOf = (record: Schema.Top, computed: Computed = {}): ReadonlyArray<Column> => {
  const ast = SchemaAST.toEncoded(record.ast)
  if (!SchemaAST.isObjects(ast)) return []
  const fields = new Map(fieldsOf(record).map((field) => [field.path, field]))
  return ast.propertySignatures.map(({ name, type }) => {
    const member = String(name)
    const field = fields.get(member)
    return {
      member,
      kind: SchemaAST.isObjects(type) || (SchemaAST.isArrays(type) && !isTextList(type)) ? "json" : kindOf(field),
      ...expressionIn(computed[member] ?? `${alias}.${Str.camelToSnake(member)}`)
    }
  })
}

const expressionIn = (computed: Computed[string]) => (typeof computed === "string" ? { sql: computed } : computed)

const kindOf = (field: Field | undefined): ColumnKind => {
  if (field === undefined) return "json"
  if (field.listAt !== undefined) return "list"
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
  members: Readonly<Record<string, string>> = {}
): ReadonlyArray<Column> => columns.map((column) => ({ ...column, sql: members[column.member] ?? column.sql }))

/** All columns but the extras that were not asked for. */
export const withoutExtras = (
  columns: ReadonlyArray<Column>,
  extras: ReadonlyArray<string> = [],
  include: ReadonlyArray<string> = []
): ReadonlyArray<Column> => columns.filter(({ member }) => !extras.includes(member) || include.includes(member))

/** A point in time as the wire prints it. */
export const timestampJson = (sql: string) => `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The expression that builds the record's JSON text, unset members absent. */
export const jsonOf = (columns: ReadonlyArray<Column>): string => {
  const members = columns.map(
    ({ kind, member, sql }) => `'${member}', ${kind === "timestamp" ? timestampJson(sql) : sql}`
  )
  return `json_strip_nulls(json_build_object(${members.join(", ")}))::text`
}

/** The expression of a field as text (`string`, `uuid`, `enum`) or as what its kind compares. */
export const expressionOf = (columns: ReadonlyArray<Column>, field: Field): string => {
  const [member, ...path] = field.segments
  const column = columns.find((candidate) => candidate.member === member)!
  if (path.length === 0) return column.sql
  return column.paths?.[path.join(".")] ?? typed(field, extract(column.sql, path))
}

/** Reads a path out of a `jsonb` expression as text. */
export const extract = (json: string, path: ReadonlyArray<string>): string =>
  path.reduce((sql, segment, index) => `${sql}${index === path.length - 1 ? "->>" : "->"}'${segment}'`, json)

const types: Readonly<Record<string, string>> = {
  number: "::float8",
  boolean: "::boolean",
  date: "::timestamptz",
  uuid: "::uuid"
}

/** A text out of a `jsonb` value as what the field's kind compares. */
export const typed = (field: Field, text: string): string => `(${text})${types[field.kind] ?? ""}`
