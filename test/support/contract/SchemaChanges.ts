/** What statements of a version of the service rely on, by a name that says what it is. */
export type Shape = Readonly<Record<string, string>>

/** The tables, columns, functions and rules of the database, each with what a statement of the service would notice. */
export const shapeQuery = `
  select 'table ' || c.relname as name, 'table' as form
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
  union all
  select format('column %s.%s', c.relname, a.attname),
      format_type(a.atttypid, a.atttypmod) || case
        when not a.attnotnull then ' null'
        when a.atthasdef or a.attidentity <> '' then ' with default'
        else ' required' end
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped
  union all
  select format('function %s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), pg_get_function_result(p.oid)
    from pg_proc p where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  union all
  select format('rule %s of %s', o.conname, o.conrelid::regclass), pg_get_constraintdef(o.oid)
    from pg_constraint o where o.connamespace = 'public'::regnamespace and o.conrelid <> 0 and o.contype in ('c', 'f', 'u', 'p', 'x')
  union all
  select distinct format('rule %s of %s', raised[1], t.tgrelid::regclass), 'raised by a trigger'
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid, regexp_matches(p.prosrc, 'constraint = ''(\\w+)''', 'g') raised
  union all
  select format('unique index %s of %s', i.indexrelid::regclass, i.indrelid::regclass), pg_get_indexdef(i.indexrelid)
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and i.indisunique
      and not exists (select from pg_constraint o where o.conindid = i.indexrelid)`

const tableOf = (name: string) =>
  /(?:^column (\w+)\.)|(?: of (\w+)$)/
    .exec(name)
    ?.slice(1)
    .find((table) => table !== undefined)

const isMet = (before: string, after: string) =>
  // A column may get a default, or stop to be required.
  before === after || (before.endsWith(" required") && after.startsWith(before.slice(0, -" required".length)))

/**
 * The changes of the database that fail statements of the version before: what it uses is gone or has another form, or its writes
 * meet a rule that it does not know.
 */
export const breakingChanges = (before: Shape, after: Shape): ReadonlyArray<string> => {
  const isNewTable = (name: string) => {
    const table = tableOf(name)
    return table === undefined || !(`table ${table}` in before)
  }
  const gone = Object.entries(before).flatMap(([name, form]) => {
    const now = after[name]
    // A rule that is gone allows what it did not; without a unique index, an upsert fails.
    if (now === undefined)
      return name.startsWith("rule ") && !/^(?:UNIQUE|PRIMARY)/.test(form) ? [] : [`${name} is gone`]
    return isMet(form, now) ? [] : [`${name} was "${form}" and is "${now}"`]
  })
  const added = Object.entries(after).flatMap(([name, form]) => {
    if (name in before || isNewTable(name)) return []
    if (name.startsWith("column ")) return form.endsWith(" required") ? [`${name} has no default`] : []
    return /^(?:rule|unique index) /.test(name) ? [`${name} may reject what the version before writes: ${form}`] : []
  })
  return [...gone, ...added]
}
