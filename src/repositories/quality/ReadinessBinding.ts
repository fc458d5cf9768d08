import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { Product } from "../../domain/catalog/Product.ts"
import { inherits } from "../../domain/catalog/ProductModule.ts"
import { sourcePathsOf } from "../../domain/catalog/SourcePaths.ts"
import { Location } from "../../domain/locations/Location.ts"
import { type Column, timestampJson } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

const paths = { location: sourcePathsOf(Location), product: sourcePathsOf(Product) }

const throughLists = (stepsOf: ReadonlyMap<string, ReadonlyArray<string>>) =>
  Object.fromEntries([...stepsOf].filter(([, steps]) => steps.includes("0")))

/** By source, the steps of the paths that lead through lists. */
export const stepsThroughLists = { location: throughLists(paths.location), product: throughLists(paths.product) }

interface Variable {
  readonly source: string
  readonly sourcePath?: string | undefined
  readonly fixedValue?: unknown
}

const isPathOf = (source: string): source is keyof typeof paths => source in paths

export const withWay = <V extends Variable>(variable: V) =>
  isPathOf(variable.source)
    ? { ...variable, way: paths[variable.source].get(variable.sourcePath ?? "") ?? ["", variable.sourcePath] }
    : variable

const none = sql`null::text`

/** The text of a variable for a branch, null where there is none: of a column of the row `t`, or of the product in `jsonb`. */
export const textOf = (variable: Variable, columns: ReadonlyArray<Column>, product: Fragment): Fragment => {
  const { fixedValue, source, sourcePath = "" } = variable
  if (source === "fixed") return fixedValue === undefined ? none : sql`(${JSON.stringify(fixedValue)}::jsonb #>> '{}')`
  const way = isPathOf(source) ? paths[source].get(sourcePath) : undefined
  if (way === undefined) return none
  if (source === "product") return sql`(${product} #>> ${way}::text[])`
  const [root, ...rest] = way
  const column = columns.find(({ member }) => member === root)
  return column === undefined ? none : sql`(to_jsonb(${valueOf(column)}) #>> ${rest}::text[])`
}

/** The members of the record that variables with a source read. */
export const rootsOf = (variables: ReadonlyArray<Variable>, source: string) =>
  new Set(
    variables.filter((variable) => variable.source === source).map(({ sourcePath = "" }) => sourcePath.split(".")[0]!)
  )

const valueOf = ({ kind, sql: value }: Column) => (kind === "timestamp" ? timestampJson(value) : value)

/** Members of a row as an object, all of them unless named. */
export const objectOf = (columns: ReadonlyArray<Column>, members?: ReadonlySet<string>) => {
  const pairs = columns
    .filter(({ member }) => members?.has(member) ?? true)
    .map((column) => sql.csv([sql.literal(`'${column.member}'`), valueOf(column)]))
  return sql`jsonb_build_object(${pairs.length === 0 ? sql`` : sql.csv(pairs)})`
}

/** The settings of a module of a product `t`: its own, or its parent's where that counts. */
export const moduleSql = (name: ModuleName) => {
  const inherited = inherits("variant", name) ? sql`in (t.uuid, t.parent_uuid)` : sql`= t.uuid`
  return sql`(select m.settings from product_modules m where m.module = ${name}::text and m.product_uuid ${inherited}
    order by m.product_uuid = t.uuid desc limit 1)`
}
