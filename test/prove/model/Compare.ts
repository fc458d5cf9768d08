import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Answer, send } from "../../support/requests/Requests.ts"
import type { Kind } from "./Commands.ts"
import { notFound, type Rejection } from "./Rules.ts"
import { comparable, moduleOwner, shown, shownLocations, supports } from "./Shown.ts"
import type { Json, State } from "./State.ts"

const include = "?include=validFrom,validUntil,focalPoint"
const pathOf = (kind: Kind, uuid: string) => `/v1/${kind}/${uuid}${kind === "assets" ? include : ""}`

const differ = (what: string, expected: unknown, actual: unknown) =>
  Effect.fail(`${what}\nexpected ${JSON.stringify(expected)}\nactual   ${JSON.stringify(actual)}`)

/** The response must be the error that the model expects, or a success. */
export const expect = Effect.fnUntraced(function* (
  what: string,
  { body, status, text }: Answer,
  refused: Rejection | undefined,
  success = 200
) {
  const isRight = refused === undefined ? status === success : status === refused.status && body._tag === refused.tag
  if (!isRight) return yield* differ(what, refused ?? success, text)
})

/** Compares a record with the model; `isChanged` when a write has just changed it. */
export const compare = Effect.fnUntraced(function* (
  state: State,
  kind: Kind,
  uuid: string,
  actual: Json,
  isChanged = false
) {
  const expected = shown(state, kind, uuid)
  if (!isDeepStrictEqual(comparable(kind, actual), expected))
    return yield* differ(`${kind} ${uuid}`, expected, comparable(kind, actual))
  const before = state.edited.get(uuid)
  const { createdAt, editedAt } = actual
  const isEdited = before === undefined ? editedAt === createdAt : isChanged ? editedAt > before : editedAt === before
  if (!isEdited)
    return yield* differ(`editedAt of ${kind} ${uuid}, changed: ${isChanged}`, before ?? createdAt, editedAt)
  state.edited.set(uuid, editedAt)
})

/** Reads a record and compares it with the model; a deleted one must be a 404. */
export const readBack = Effect.fnUntraced(function* (state: State, kind: Kind, uuid: string, isChanged = false) {
  const answer = yield* send("GET", pathOf(kind, uuid))
  if (!state.has(kind, uuid)) return yield* expect(`GET ${kind} ${uuid}`, answer, notFound(kind))
  yield* expect(`GET ${kind} ${uuid}`, answer, undefined)
  yield* compare(state, kind, uuid, answer.body.data, isChanged)
})

/** Compares the listed members of a record with the model. */
export const compareMembers = Effect.fnUntraced(function* (state: State, owner: Kind, uuid: string, member: Kind) {
  const { body } = yield* send("GET", `/v1/${owner}/${uuid}/${member}?limit=500`)
  const expected = state.members(owner, uuid, member).toSorted()
  const actual = body.data.map((record: Json) => record["uuid"]).toSorted()
  if (!isDeepStrictEqual(actual, expected) || body.pagination.total !== expected.length)
    return yield* differ(`${member} of ${owner} ${uuid}`, expected, { actual, total: body.pagination.total })
})

export const incompatible: Rejection = { status: 400, tag: "ModuleIncompatibleWithProductTypeError" }
export const notActive: Rejection = { status: 400, tag: "ModuleNotActiveError" }

/** Compares a module of a product with the model. */
export const compareModule = Effect.fnUntraced(function* (state: State, uuid: string, module: "locations" | "stock") {
  const answer = yield* send("GET", `/v1/products/${uuid}/modules/${module}`)
  const type: string | undefined = state.records.products.get(uuid)?.["type"]
  const owner = type === undefined ? undefined : moduleOwner(state, uuid, module)
  const refused =
    type === undefined
      ? notFound("products")
      : !supports(type, module)
        ? incompatible
        : owner === undefined
          ? notActive
          : undefined
  yield* expect(`GET ${module} of ${uuid}`, answer, refused)
  if (refused !== undefined) return
  const { groups, inheritedFrom, locations, mode, resolvedCount } = answer.body.data
  const from = owner === uuid ? undefined : owner
  const expected = module === "stock" ? {} : shownLocations(state, state.modules.get(`${owner} ${module}`)!)
  const actual = module === "stock" ? {} : { mode, locations, groups, resolvedCount }
  if (!isDeepStrictEqual(actual, expected) || inheritedFrom !== from)
    return yield* differ(`${module} of ${uuid}`, { ...expected, from }, answer.body.data)
})
