import { type Fragment, sql } from "../../sql/Fragment.ts"
import { brokenRule, codeOf, messageOf } from "./ReadinessRules.ts"

/** A template, and what its variables read for a branch: all `jsonb`, but for the locale. */
export interface Bound {
  readonly variables: Fragment
  readonly locales: Fragment
  readonly location: Fragment
  readonly product: Fragment
  /** The locale of the branch. */
  readonly locale: Fragment
  /** By source, the steps to the values of paths that lead through lists. */
  readonly steps: Fragment
  /** The text of each variable, if the template is known: this is twice as fast as looking for them. */
  readonly texts?: ReadonlyArray<Fragment>
}

const broken = sql.literal(brokenRule)
const code = sql.literal(codeOf("checked.rule"))
const message = sql.literal(messageOf("checked.rule"))
const subject = sql.literal(`case v.source when 'location' then v."sourcePath" || ' of the location'
  when 'product' then v."sourcePath" || ' of the product' when 'fixed' then 'The fixed value' else 'The value' end`)
const path = sql.literal(`case when v.source in ('location', 'product') then v."sourcePath"
  when v.source = 'fixed' then format('variables.%s.fixedValue', v.n - 1) else format('variables.%s', v.n - 1) end`)

/** The steps to the value of a variable, unless they were given with it. */
const way = (steps: Fragment) => sql`coalesce(v.given,
  (select array_agg(step) from jsonb_array_elements_text(${steps}->v.source->v."sourcePath") step), string_to_array(v."sourcePath", '.'))`

const members = sql.literal(`(key text, type text, required boolean, editable boolean, "maxLength" int, choices jsonb,
  source text, "sourcePath" text, "fixedValue" jsonb, way text[])`)
const names = `key, type, required, editable, "maxLength", choices, source, "sourcePath", "fixedValue"`

/** The variables, and the text of the value of each. */
const valuesOf = (bound: Bound) => {
  const { location, product, steps, texts, variables } = bound
  const listed = sql`jsonb_to_recordset(${variables}) as ${members}`
  // The records are made only for values that are objects.
  if (texts !== undefined)
    return sql`from (select ${location} as location, ${product} as product) bound,
      rows from (${listed}, unnest(array[${texts.length === 0 ? sql`` : sql.csv(texts)}]::text[])) with ordinality
        v (${sql.literal(names)}, way, text, n), lateral (select v.way, v.text) value`
  // The offsets keep PostgreSQL from computing them again for each use.
  return sql`from (select ${location} as location, ${product} as product offset 0) bound,
    rows from (${listed}) with ordinality v (${sql.literal(names)}, given, n),
    lateral (select way, case v.source when 'location' then bound.location #>> way when 'product' then bound.product #>> way
      when 'fixed' then v."fixedValue" #>> '{}' end as text from (select ${way(steps)} as way) ways offset 0) value`
}

const hasNoLocale = ({ locale, locales }: Bound) =>
  sql`(${locale} is not null and not jsonb_exists(${locales}, ${locale}))`

/** Whether a branch has all that a template needs. */
export const readySql = (bound: Bound): Fragment =>
  sql`(not ${hasNoLocale(bound)} and not exists (select ${valuesOf(bound)} where ${broken} is not null))`

/** What is missing, in the order of the variables. */
export const problemsSql = (bound: Bound): Fragment => sql`(
  case when ${hasNoLocale(bound)} then jsonb_build_array(jsonb_build_object('path', 'locale', 'code', 'noLocale',
    'message', format('The template has no locale %s', ${bound.locale}))) else '[]' end ||
  coalesce((select jsonb_agg(jsonb_build_object('variable', v.key, 'path', ${path}, 'code', ${code},
    'message', ${subject} || ${message}) order by v.n)
    ${valuesOf(bound)}, lateral (select ${broken} as rule offset 0) checked where checked.rule is not null), '[]'))`
