import { Option, type Schema } from "effect"
import { canonical } from "../schema/Locale.ts"
import { inner, isList, isNamed, type Marker, markerOf, type Node, type Problem } from "./ModuleShape.ts"

/** Where the values come from that the server fills in. */
export interface Fill {
  readonly uuid: () => string
  readonly now: string
  readonly language: string
}

type Json = Readonly<Record<string, unknown>>

/** What is stored of what was sent: defaults filled in, nulls and read-only members left out, lists in their order. */
export const complete = (
  module: { readonly fields: Schema.Struct.Fields },
  sent: Json,
  fill: Fill
): { readonly settings: Json; readonly problems: ReadonlyArray<Problem> } => {
  const problems: Array<Problem> = []
  const at = (path: string, name: string | number) => (path === "" ? String(name) : `${path}.${name}`)

  const record = (fields: Readonly<Record<string, Node>>, value: Json, path: string, index: number): Json =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => {
        const node = inner(field)
        const { toldBy } = markerOf(node)
        if (toldBy !== undefined && (value[toldBy] ?? undefined) !== undefined) return []
        const member = name === "locale" || name === "locales" ? canonicalLocale(value[name]) : value[name]
        const made = completed(node, member, at(path, name), index)
        return made === undefined ? [] : [[name, made]]
      })
    )

  const list = (node: Node, values: ReadonlyArray<unknown>, path: string) => {
    const { sortBy, uniqueBy } = markerOf(node)
    const made = values.map((value, index) =>
      node.value === undefined ? value : completed(node.value, value, at(path, index), index)
    ) as ReadonlyArray<Json>
    if (uniqueBy !== undefined) problems.push(...duplicates(made, uniqueBy, path))
    return sortBy === undefined ? made : made.toSorted((a, b) => (String(a[sortBy]) < String(b[sortBy]) ? -1 : 1))
  }

  const completed = (node: Node, value: unknown, path: string, index: number): unknown => {
    const marker = markerOf(node)
    if (marker.readOnly === true) return undefined
    if (value === undefined || value === null) return filled(node, marker, index, fill)
    if (isList(node)) return list(node, value as ReadonlyArray<unknown>, path)
    return node.fields === undefined || isNamed(node) ? value : record(node.fields, value as Json, path, index)
  }

  return { settings: record(module.fields as never, sent, "", 0), problems }
}

const filled = (node: Node, { fallback, fill }: Marker, index: number, { language, now, uuid }: Fill): unknown => {
  switch (fill) {
    case "uuid":
      return uuid()
    case "now":
      return now
    case "index":
      return index
    case "languages":
      return [language]
    default:
      return fallback ?? (isList(node) ? [] : undefined)
  }
}

/** The locale as it will be stored, so that `nl_nl` and `nl-NL` are one; whether it is valid is said elsewhere. */
const canonicalLocale = (locale: unknown): unknown => {
  if (Array.isArray(locale)) return [...new Set(locale.map(canonicalLocale))]
  return typeof locale === "string" ? Option.getOrElse(canonical(locale), () => locale) : locale
}

/** The locales that settings name, at any depth. */
export const localesIn = (settings: unknown): ReadonlyArray<string> => {
  if (Array.isArray(settings)) return settings.flatMap(localesIn)
  if (typeof settings !== "object" || settings === null) return []
  return Object.entries(settings).flatMap(([name, value]) =>
    name === "locale" || name === "locales" ? ([value].flat() as ReadonlyArray<string>) : localesIn(value)
  )
}

const duplicates = (list: ReadonlyArray<Json>, member: string, path: string): ReadonlyArray<Problem> => {
  const seen = new Set<unknown>()
  return list.flatMap((item, index) => {
    const isNew = !seen.has(item[member])
    seen.add(item[member])
    return isNew
      ? []
      : [{ path: `${path}.${index}.${member}`, code: "duplicate", message: `${String(item[member])} is there twice` }]
  })
}
