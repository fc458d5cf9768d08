import { Effect, Result } from "effect"
import { type MetaTagInput, type MetaTagIssue, MetaTagValidationError } from "./AssetMetaTag.ts"
import type { MetaTagId, MetaTagValue } from "./MetaTag.ts"
import { type Definition, read } from "./MetaTagValue.ts"
import { decodeEach } from "../../write/DecodeEach.ts"
import { shown } from "../../write/Excerpts.ts"
import { didYouMean, nearest } from "../../write/Suggestions.ts"

export interface Validated {
  /** A creation fills in defaults and needs the required values; a merge touches nothing but what was sent. */
  readonly mode: "creation" | "merge"
  readonly definitions: ReadonlyArray<Definition>
  /** The keys of the definitions that apply to the asset. */
  readonly applicable: ReadonlySet<string>
  /** The values that the asset has, by the uuid of their definition. */
  readonly stored: ReadonlyMap<MetaTagId, MetaTagValue>
  readonly sent: ReadonlyArray<MetaTagInput>
}

/** What to write: only what differs from what is stored. */
export interface Changes {
  readonly set: ReadonlyArray<{ readonly uuid: MetaTagId; readonly key: string; readonly value: MetaTagValue }>
  readonly removed: ReadonlyArray<MetaTagId>
}

type Outcome = { readonly value: MetaTagValue } | "removed" | "unchanged" | ReadonlyArray<Omit<MetaTagIssue, "key">>

const invalid = (code: MetaTagIssue["code"], message: string): Outcome => [{ code, message }]

/** A list without options says nothing, like `null`. */
const isNothing = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)

/** Compares one level: what a client sends may be nested so deep that recursion overflows the stack. */
const isSame = (a: unknown, b: unknown) =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((element, index) => element === b[index])
    : a === b

/** What one value means for its definition. */
const outcomeOf = (definition: Definition, sent: unknown, { applicable, mode, stored }: Validated): Outcome => {
  const held = stored.get(definition.uuid)
  const applies = applicable.has(definition.key)
  const mayChange = mode === "creation" || definition.editable
  if (isNothing(sent)) {
    if (mode === "creation" && definition.required && applies) return invalid("required", "Required")
    if (held === undefined) return "unchanged"
    if (definition.required && applies) return invalid("required", "Required, so it can be changed but not removed")
    return mayChange ? "removed" : invalid("notEditable", "Cannot be changed after the asset was created")
  }
  // A client may send back what it read, even where it could not be set any more.
  if (isSame(sent, held)) return "unchanged"
  const value = read(definition, sent, held)
  if (Result.isFailure(value)) return value.failure
  if (isSame(value.success, held)) return "unchanged"
  if (!applies) return invalid("notApplicable", "Does not apply to the categories of the asset")
  return mayChange ? { value: value.success } : invalid("notEditable", "Cannot be changed after the asset was created")
}

/** The definition that an input is for; its key and its uuid, where both are sent, have to mean the same one. */
const finder = (definitions: ReadonlyArray<Definition>) => {
  const byKey = new Map(definitions.map((definition) => [definition.key, definition]))
  const byUuid = new Map<string, Definition>(definitions.map((definition) => [definition.uuid, definition]))
  let unknown = 0
  return ({ key, uuid }: MetaTagInput): Result.Result<Definition, string> => {
    const found = key === undefined ? byUuid.get(uuid ?? "") : byKey.get(key)
    if (found === undefined) {
      // Looking for what was meant takes time, and after a few it is no typing error any more.
      const suggestions = ++unknown > 10 ? [] : nearest(key ?? "", [...byKey.keys()])
      return Result.fail(
        `There is no meta tag with this ${key === undefined ? "uuid" : "key"}${didYouMean(suggestions)}`
      )
    }
    return uuid === undefined || uuid === found.uuid
      ? Result.succeed(found)
      : Result.fail(`The uuid ${uuid} is not that of the meta tag ${found.key}`)
  }
}

const utf8 = new TextEncoder()

/** Bytes of the values of an asset in an answer, with the options that they name. */
const maxBytes = 12 * 1024 ** 2

/** What a value has in an answer at most: an option has its key once more, a uuid and a label, which can become longer later. */
const bytesOf = (value: MetaTagValue) =>
  250 + 2 * utf8.encode(JSON.stringify(value)).length + 500 * (typeof value === "object" ? value.length : 1)

/** Whether the values that the asset would have fit an answer; a write that only removes some is always possible. */
const tooLarge = ({ stored }: Validated, { removed, set }: Changes): ReadonlyArray<MetaTagIssue> => {
  const kept = new Map([...stored, ...set.map(({ uuid, value }) => [uuid, value] as const)])
  for (const uuid of removed) kept.delete(uuid)
  const bytes = [...kept.values()].reduce<number>((sum, value) => sum + bytesOf(value), 0)
  const [largest] = set.toSorted((a, b) => bytesOf(b.value) - bytesOf(a.value))
  if (largest === undefined || bytes <= maxBytes) return []
  const message = `The values of the asset, with the options that they name, can have more than ${maxBytes / 1024 ** 2} MiB in an answer`
  return [{ key: largest.key, code: "tooMany", message }]
}

/** The changes that the sent values mean, or everything that is wrong with them. A pattern may take tens of milliseconds. */
export const validate = Effect.fnUntraced(function* (values: Validated) {
  const issues: Array<MetaTagIssue> = []
  const set: Array<Changes["set"][number]> = []
  const removed: Array<MetaTagId> = []
  const named = new Set<Definition>()
  const find = finder(values.definitions)
  yield* decodeEach(values.sent, (input) => {
    const found = find(input)
    if (Result.isFailure(found)) {
      issues.push({ key: shown(input.key ?? input.uuid ?? ""), code: "unknownKey", message: found.failure })
      return
    }
    const definition = found.success
    const { key, uuid } = definition
    if (named.has(definition)) {
      issues.push({ key, code: "tooMany", message: "Expected one value, but it was sent more than once" })
      return
    }
    named.add(definition)
    const outcome = outcomeOf(definition, input.value, values)
    if (outcome === "removed") removed.push(uuid)
    else if (typeof outcome === "object" && "value" in outcome) set.push({ uuid, key, value: outcome.value })
    else if (outcome !== "unchanged") issues.push(...outcome.map((problem) => ({ key, ...problem })))
  })
  if (values.mode === "creation") {
    const missing = values.definitions.filter(
      (definition) => values.applicable.has(definition.key) && !named.has(definition)
    )
    for (const { defaultValue, key, required, uuid } of missing) {
      if (defaultValue !== undefined) set.push({ uuid, key, value: defaultValue })
      else if (required) issues.push({ key, code: "required", message: "Required" })
    }
  }
  if (issues.length === 0) issues.push(...tooLarge(values, { set, removed }))
  const changes: Changes = { set, removed }
  return issues.length === 0 ? changes : yield* MetaTagValidationError.of(issues)
})
