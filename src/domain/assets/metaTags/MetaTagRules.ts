import { Array as Arr, Order, Result } from "effect"
import type { MetaTagDefinition, MetaTagDefinitionCreate, MetaTagOption, PartialMetaTagDefinition } from "./MetaTag.ts"
import { optionProblems, type Problem, validationProblems } from "./MetaTagProblems.ts"
import type { Validation } from "./MetaTagValidation.ts"
import { read } from "./MetaTagValue.ts"
import { InvalidRequestError } from "../../write/RequestErrors.ts"

/** The members of a definition that are validated and written together; its categories are checked against their own table. */
export type Draft = Omit<MetaTagDefinition, "uuid" | "categories" | "createdAt" | "editedAt">

/** A definition of which nothing is known but what cannot change. */
export const empty = ({ key, type }: Pick<MetaTagDefinitionCreate, "key" | "type">): Draft => ({
  key,
  type,
  translations: [],
  required: false,
  filterable: false,
  searchable: false,
  editable: true,
  options: [],
  position: 0
})

type Sent<Member extends keyof PartialMetaTagDefinition> = NonNullable<PartialMetaTagDefinition[Member]>

/**
 * The options after a replacement. Their keys are their identities: an option keeps its uuid as long as its key stays. A
 * uuid that is sent with an option names it within the request, so that a whole tree can be made at once.
 */
const replaced = (before: ReadonlyArray<MetaTagOption>, sent: Sent<"options">, newUuid: () => string) => {
  const known = new Map(before.map(({ key, uuid }) => [key, uuid]))
  const uuids = sent.map(({ key }) => known.get(key) ?? newUuid())
  const meant = new Map(sent.map(({ uuid }, index) => [uuid, uuids[index]!]))
  return sent.map(({ active = true, key, parentOptionUuid, position, translations }, index): MetaTagOption => ({
    uuid: uuids[index]!,
    key,
    translations: translations ?? [],
    position: position ?? index,
    active,
    ...(parentOptionUuid ? { parentOptionUuid: meant.get(parentOptionUuid) ?? parentOptionUuid } : {})
  }))
}

/** The members that are left when `null` takes away; nothing when none is left. */
const merged = <A extends object>(before: A | undefined, sent: { readonly [K in keyof A]?: A[K] | null }) => {
  const kept = Object.entries({ ...before, ...sent }).filter(([, value]) => value !== null)
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as Partial<A>)
}

type Group = NonNullable<Draft["group"]>

const groupAfter = (before: Group | undefined, sent: Sent<"group">): Result.Result<Group | undefined, Problem> => {
  const group = merged(before, sent)
  if (group === undefined) return Result.succeed(undefined)
  const { key, position = 0, translations = [] } = group
  return key === undefined
    ? Result.fail({ path: "group.key", code: "required", message: "A group needs a key" })
    : Result.succeed({ key, translations, position })
}

/** An optional member after a patch: absent stays, `null` clears, an object is merged. */
const after = <A, S>(before: A | undefined, sent: S | null | undefined, write: (sent: S) => A | undefined) =>
  sent === undefined ? before : sent === null ? undefined : write(sent)

const immutable = (before: Draft, sent: PartialMetaTagDefinition): ReadonlyArray<Problem> =>
  (["key", "type"] as const)
    .filter((member) => sent[member] !== undefined && sent[member] !== before[member])
    .map((member) => ({ path: member, code: "immutable", message: `It is ${before[member]} and cannot change` }))

/** The definition as a request leaves it, or everything that is wrong with that. `newUuid` names new options. */
export const applyPatch = (
  before: Draft,
  sent: PartialMetaTagDefinition,
  newUuid: () => string
): Result.Result<Draft, InvalidRequestError> => {
  const { defaultValue: oldDefault, group: oldGroup, validation: oldValidation, ...old } = before
  const options = sent.options === undefined ? old.options : replaced(old.options, sent.options ?? [], newUuid)
  const validation = after(oldValidation, sent.validation, (members): Validation | undefined =>
    merged(oldValidation, members)
  )
  const group = sent.group
    ? groupAfter(oldGroup, sent.group)
    : Result.succeed(after(oldGroup, sent.group, () => oldGroup))
  const bare = { ...old, options, ...(validation === undefined ? {} : { validation }) }
  const problems = [
    ...immutable(before, sent),
    ...optionProblems(bare),
    ...validationProblems(bare),
    ...(Result.isFailure(group) ? [group.failure] : [])
  ]
  const wanted = after<unknown, unknown>(oldDefault, sent.defaultValue, (value) => value)
  // Only rules that make sense themselves can be applied to a value.
  const normal = wanted === undefined || problems.length > 0 ? undefined : read(bare, wanted)
  if (normal !== undefined && Result.isFailure(normal)) {
    problems.push(...normal.failure.map((problem) => ({ path: "defaultValue", ...problem })))
  }
  if (problems.length > 0) {
    return Result.fail(InvalidRequestError.of(problems.slice(0, 20).map((problem) => ({ in: "body", ...problem }))))
  }
  return Result.succeed({
    ...bare,
    translations: sent.translations === undefined ? old.translations : (sent.translations ?? []),
    required: sent.required ?? old.required,
    filterable: sent.filterable ?? old.filterable,
    searchable: sent.searchable ?? old.searchable,
    editable: sent.editable ?? old.editable,
    position: sent.position ?? old.position,
    options: Arr.sort(options, byPosition),
    ...(Result.isSuccess(group) && group.success !== undefined ? { group: group.success } : {}),
    ...(normal === undefined ? {} : { defaultValue: Result.getOrThrow(normal) })
  })
}

const byPosition = Order.combine(
  Order.mapInput(Order.Number, ({ position }: MetaTagOption) => position),
  Order.mapInput(Order.String, ({ key }: MetaTagOption) => key)
)

/** The keys of the options that a replacement takes away. */
export const removedOptions = (before: Draft, after: Draft): ReadonlyArray<string> => {
  const left = new Set(after.options.map(({ key }) => key))
  return before.options.map(({ key }) => key).filter((key) => !left.has(key))
}
