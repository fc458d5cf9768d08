import { maxIncluded } from "../domain/query/Include.ts"
import type { Selection } from "../domain/query/Selection.ts"
import { type Column, descend, jsonOf, recordOf, shownOf, withoutExtras } from "./Columns.ts"
import { type Fragment, sql } from "./Fragment.ts"

/** The members of an object that are asked for, by name; with none, the whole object. */
interface Tree extends ReadonlyMap<string, Tree> {}

const treeOf = (paths: ReadonlyArray<ReadonlyArray<string>>): Tree => {
  const names = new Set(paths.map(([name]) => name!))
  return new Map(
    Array.from(names, (name) => {
      const below = paths.filter(([first]) => first === name).map((path) => path.slice(1))
      return [name, below.some((path) => path.length === 0) ? new Map() : treeOf(below)]
    })
  )
}

/** The members of an object in `jsonb`. */
const objectOf = (column: Column, path: string, value: Fragment, tree: Tree): Fragment => {
  const members = Array.from(tree, ([name, inner]) => {
    const member = descend(value, [name])
    return sql`${sql.literal(`'${name}'`)}, ${partOf(column, `${path}.${name}`, member, inner)}`
  })
  return sql`jsonb_strip_nulls(jsonb_build_object(${sql.csv(members)}))`
}

/** What is asked for of a value in `jsonb`: null where there is nothing of it. */
const partOf = (column: Column, path: string, value: Fragment, tree: Tree): Fragment => {
  if (tree.size === 0) return value
  if (column.lists?.has(path) !== true) return sql`nullif(${objectOf(column, path, value, tree)}, '{}')`
  // Each list has a name of its own, because lists can be in lists.
  const item = sql.literal(`item${path.split(".").length}`)
  return sql`case when jsonb_typeof(${value}) = 'array' then coalesce((
    select jsonb_agg(${objectOf(column, path, sql`${item}.value`, tree)} order by ${item}.place)
    from jsonb_array_elements(${value}) with ordinality ${item} (value, place)), '[]') end`
}

/** The columns of the members that are asked for, and of the uuid. */
const selected = (columns: ReadonlyArray<Column>, fields: Selection["fields"]): ReadonlyArray<Column> =>
  fields === undefined ? columns : within(columns, treeOf(["uuid", ...fields].map((path) => path.split("."))))

const within = (columns: ReadonlyArray<Column>, tree: Tree): ReadonlyArray<Column> =>
  columns.flatMap((column) => {
    const inner = tree.get(column.member)
    if (inner === undefined) return []
    if (inner.size === 0) return [column]
    if (column.of !== undefined) return [{ ...column, sql: column.of((others) => within(others, inner)) }]
    // Computed once, however many of its members are asked for.
    const part = sql`(select ${partOf(column, column.member, sql`whole.value`, inner)}
      from (select ${column.sql} as value offset 0) whole)`
    return [{ ...column, sql: column.name === undefined ? part : partOf(column, column.member, column.sql, inner) }]
  })

/** A connection keeps a limited number of prepared statements, so that only some selections have one. */
const maxPrepared = 100

/** Whether the statements of a selection are prepared: those of the first ones that a resource is asked for. */
export const makePrepared = () => {
  const prepared = new Set<string>()
  return ({ fields, include }: Selection): boolean => {
    if (fields === undefined) return true
    const name = `${fields.join()} ${include?.join() ?? ""}`
    if (prepared.size < maxPrepared) prepared.add(name)
    return prepared.has(name)
  }
}

/** What records can be answered with. */
export interface Answers {
  readonly columns: ReadonlyArray<Column>
  /** Members that are in the answer only on request. */
  readonly extras?: ReadonlyArray<string> | undefined
  /** The columns that an answer has besides its own, by the name that asks for them. */
  readonly related?: Readonly<Record<string, ReadonlyArray<Column>>> | undefined
}

/** Which members an answer has, and from which expressions. */
export interface AnswerRequest extends Selection {
  /** The columns of answers and filters, where they depend on the request. */
  readonly columns?: ReadonlyArray<Column> | undefined
  /** Columns that only the answer has. */
  readonly added?: ReadonlyArray<Column> | undefined
  /** Other expressions of members of the answer. */
  readonly members?: Readonly<Record<string, Fragment>> | undefined
}

/** The expression that builds the JSON text of a record as a request sees it. */
export const answerOf = ({ extras, related, ...own }: Answers, request: AnswerRequest): Fragment => {
  const { added = [], columns = own.columns, fields, include, members } = request
  const included = [...new Set(include)].flatMap((name) => related?.[name] ?? [])
  return jsonOf(selected([...shownOf(withoutExtras(columns, extras, include), members), ...added, ...included], fields))
}

/** The newest records that belong to a row `t`. */
export const newestOf = (options: {
  readonly member: string
  readonly columns: ReadonlyArray<Column>
  /** They are rows `t`, too; the row that they belong to has `owner.uuid`. */
  readonly rows: Fragment
  /** The rows that have the member; all unless given. */
  readonly when?: Fragment
}): Column => {
  const { columns, member, rows, when = sql.literal("true") } = options
  const of = (some: (columns: ReadonlyArray<Column>) => ReadonlyArray<Column>) => sql`(case when ${when} then (
    select coalesce(json_agg(newest.record), '[]') from (select t.uuid) owner cross join lateral (
      select ${recordOf(some(columns))} as record from ${rows}
      order by t.created_at desc, t.uuid desc limit ${sql.literal(String(maxIncluded))}) newest) end)`
  return { member, name: undefined, kind: "json", sql: of((every) => every), fields: [], of }
}
