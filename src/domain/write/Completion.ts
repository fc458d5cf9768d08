import { Option } from "effect"
import { type Json, memberOf, objectOf } from "../schema/Json.ts"
import { canonical } from "../schema/Locale.ts"
import { type Fields, fieldsOf, inner, isList, type Marker, markerOf, type Node, type Shaped } from "./Markers.ts"
import { isNamed } from "./Shape.ts"

/** Where the values come from that the server generates. */
export interface Generator {
  readonly uuid: () => string
  readonly now: string
  readonly locale: string
}

/** One thing that is wrong with settings, at a dotted path. */
export interface Problem {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** What is stored of what was sent: defaults filled in, nulls and read-only members left out, lists sorted. */
export const complete = (
  whole: Shaped,
  sent: unknown,
  generator: Generator
): { readonly settings: Json; readonly problems: ReadonlyArray<Problem> } => {
  const problems: Array<Problem> = []
  const at = (path: string, name: string | number) => (path === "" ? String(name) : `${path}.${name}`)

  const record = (fields: Fields, value: Json, path: string, index: number): Json =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => {
        const { suppliedBy } = markerOf(field)
        if (suppliedBy !== undefined && (value[suppliedBy] ?? undefined) !== undefined) return []
        const made = completed(field, value[name], at(path, name), index)
        return made === undefined ? [] : [[name, made]]
      })
    )

  const list = (node: Node, { sortBy, uniqueBy }: Marker, values: ReadonlyArray<unknown>, path: string) => {
    const made = values.map((value, index) =>
      node.value === undefined ? value : completed(node.value, value, at(path, index), index)
    )
    if (uniqueBy !== undefined) problems.push(...duplicates(made, uniqueBy, path))
    return sortBy === undefined
      ? made
      : made.toSorted((a, b) => (String(memberOf(a, sortBy)) < String(memberOf(b, sortBy)) ? -1 : 1))
  }

  const completed = (field: Node, sent: unknown, path: string, index: number): unknown => {
    const marker = markerOf(field)
    if (marker.readOnly === true) return undefined
    if (sent === undefined || sent === null) return absent(field, marker, index, generator)
    const value = marker.references === "locales" ? canonicalLocale(sent) : sent
    const node = inner(field)
    if (isList(node) && Array.isArray(value)) return list(node, marker, value, path)
    return node.fields === undefined || isNamed(node) ? value : record(node.fields, objectOf(value), path, index)
  }

  return { settings: record(fieldsOf(whole), objectOf(sent), "", 0), problems }
}

/** The value of a member that was left out. */
const absent = (field: Node, marker: Marker, index: number, { locale, now, uuid }: Generator): unknown => {
  switch (marker.generated) {
    case "uuid":
      return uuid()
    case "now":
      return now
    case "index":
      return index
    case "locales":
      return [locale]
    default:
      return marker.fallback ?? (isList(field) ? [] : undefined)
  }
}

/** In canonical form, so that `nl_nl` and `nl-NL` are one; whether the service accepts the locale is checked elsewhere. */
const canonicalLocale = (locale: unknown): unknown => {
  if (Array.isArray(locale)) return [...new Set(locale.map(canonicalLocale))]
  return typeof locale === "string" ? Option.getOrElse(canonical(locale), () => locale) : locale
}

const duplicates = (list: ReadonlyArray<unknown>, member: string, path: string): ReadonlyArray<Problem> => {
  const seen = new Set<unknown>()
  return list.flatMap((item, index) => {
    const value = memberOf(item, member)
    const isNew = !seen.has(value)
    seen.add(value)
    return isNew
      ? []
      : [{ path: `${path}.${index}.${member}`, code: "duplicate", message: `${String(value)} is there twice` }]
  })
}
