import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { put } from "../../support/requests/UploadRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import { bodiesOf, creation, isUndecodable } from "./Bodies.ts"
import type { Command, Kind } from "./Commands.ts"
import { compareMembers, compareModule, expect, incompatible, notActive, readBack } from "./Compare.ts"
import { invalid, notFound, patched, rules } from "./Rules.ts"
import { owns } from "./Shown.ts"
import { type Json, relations, type State } from "./State.ts"

const relate = (state: State, uuid: string, decoded: Json) => {
  for (const member of ["users", "locations"] as const) {
    if (decoded[member] !== undefined) state.replace("groups", uuid, member, decoded[member])
  }
}

const withoutMembers = (kind: Kind, decoded: Json): Json => {
  if (kind !== "groups") return decoded
  const { locations: _l, users: _u, ...own } = decoded
  return own
}

const create = Effect.fnUntraced(function* (state: State, command: Extract<Command, { op: "create" }>) {
  const { kind } = command
  const { decoded, sent } = creation(state, command)
  const { defaults, problem, references } = rules[kind]
  const named = kind === "assets" && (decoded["translations"] ?? []).length === 0
  const stem = () => state.files.get(decoded["fileUuid"])?.name.replace(/\.\w+$/, "")
  const complete = patched(
    kind,
    {},
    withoutMembers(
      kind,
      defaults(named ? { ...decoded, translations: [{ locale: "en", name: stem() ?? "" }] } : decoded)
    )
  )
  const refused = isUndecodable(kind, decoded, true)
    ? invalid
    : (references(state, decoded) ?? problem(state, undefined, undefined, complete, decoded))
  const answer = yield* send("POST", `/v1/${kind}`, { body: sent })
  yield* expect(`POST ${kind} ${JSON.stringify(sent)}`, answer, refused, 201)
  if (refused !== undefined) return
  const uuid: string = answer.body.data.uuid
  state.records[kind].set(uuid, complete)
  if (kind === "groups") relate(state, uuid, decoded)
  yield* readBack(state, kind, uuid)
})

const patch = Effect.fnUntraced(function* (state: State, { body, kind, target }: Extract<Command, { op: "patch" }>) {
  const uuid = state.of(kind, target)
  const { decoded, sent } = bodiesOf(state, kind, body)
  const before = state.records[kind].get(uuid)
  const after = before === undefined ? undefined : patched(kind, before, withoutMembers(kind, decoded))
  const refused = isUndecodable(kind, decoded, false)
    ? invalid
    : before === undefined || after === undefined
      ? notFound(kind)
      : (rules[kind].references(state, decoded) ?? rules[kind].problem(state, uuid, before, after, decoded))
  const answer = yield* send("PATCH", `/v1/${kind}/${uuid}`, { body: sent })
  yield* expect(`PATCH ${kind} ${uuid} ${JSON.stringify(sent)}`, answer, refused)
  if (refused === undefined) {
    state.records[kind].set(uuid, after!)
    if (kind === "groups") relate(state, uuid, decoded)
  }
  yield* readBack(state, kind, uuid, refused === undefined && !isDeepStrictEqual(before, after))
})

/** Whether an asset is in use. */
const isUsed = (state: State, asset: string) =>
  [...state.media.values()].some((media) => media.some(({ assetUuid }) => assetUuid === asset)) ||
  [...state.records.posts.values()].some(
    ({ coverAssetUuid, mediaAssetUuids }) => coverAssetUuid === asset || mediaAssetUuids.includes(asset)
  )

const remove = Effect.fnUntraced(function* (state: State, { force, kind, target }: Extract<Command, { op: "delete" }>) {
  const uuid = state.of(kind, target)
  const hasVariants =
    kind === "products" && [...state.records.products.values()].some(({ parentUuid }) => parentUuid === uuid)
  const refused = !state.has(kind, uuid)
    ? notFound(kind)
    : hasVariants
      ? invalid
      : kind === "assets" && !force && isUsed(state, uuid)
        ? { status: 400, tag: "AssetInUseError" }
        : undefined
  const answer = yield* send("DELETE", `/v1/${kind}/${uuid}${kind === "assets" ? `?force=${force}` : ""}`)
  yield* expect(`DELETE ${kind} ${uuid} force ${force}`, answer, refused)
  if (refused === undefined) state.remove(kind, uuid)
  yield* readBack(state, kind, uuid)
})

const link = Effect.fnUntraced(function* (state: State, { members, pair, target }: Extract<Command, { op: "link" }>) {
  const [a, b] = relations[pair % 3]!
  const [owner, member] = pair < 3 ? [a, b] : [b, a]
  const uuid = state.of(owner, target)
  const named = state.all(member, members)
  const refused = !state.has(owner, uuid)
    ? notFound(owner)
    : named.some((one) => !state.has(member, one))
      ? notFound(member)
      : undefined
  const answer = yield* send("PUT", `/v1/${owner}/${uuid}/${member}`, { body: { [member]: named } })
  yield* expect(`PUT ${owner} ${uuid} ${member} ${named.join()}`, answer, refused)
  if (refused === undefined) state.replace(owner, uuid, member, named)
  if (state.has(owner, uuid)) yield* compareMembers(state, owner, uuid, member)
})

const media = Effect.fnUntraced(function* (state: State, { items, logo, target }: Extract<Command, { op: "media" }>) {
  const uuid = state.of("locations", target)
  const named = state.all("assets", items)
  const asset = logo === undefined ? undefined : state.of("assets", logo)
  const body = {
    items: named.map((assetUuid) => ({ assetUuid, role: "menu" })),
    ...(asset === undefined ? {} : { logo: { assetUuid: asset } })
  }
  const refused = !state.has("locations", uuid)
    ? notFound("locations")
    : [...named, ...(asset === undefined ? [] : [asset])].some((one) => !state.has("assets", one))
      ? notFound("assets")
      : undefined
  const answer = yield* send("PUT", `/v1/locations/${uuid}/media`, { body })
  yield* expect(`PUT media of ${uuid} ${JSON.stringify(body)}`, answer, refused)
  const before = state.media.get(uuid) ?? []
  const after = [
    ...(asset === undefined ? [] : [{ assetUuid: asset, role: "logo", position: 0, isLogo: true }]),
    ...named.map((assetUuid, position) => ({ assetUuid, role: "menu", position }))
  ]
  if (refused === undefined) state.media.set(uuid, after)
  yield* readBack(state, "locations", uuid, refused === undefined && !isDeepStrictEqual(before, after))
})

const writeModule = Effect.fnUntraced(function* (
  state: State,
  command: Extract<Command, { op: "putModule" | "deleteModule" }>
) {
  const { module, target } = command
  const uuid = state.of("products", target)
  const type: string | undefined = state.records.products.get(uuid)?.["type"]
  const path = `/v1/products/${uuid}/modules/${module}`
  const unowned = type === undefined ? notFound("products") : !owns(type, module) ? incompatible : undefined
  if (command.op === "deleteModule") {
    const refused = unowned ?? (state.modules.has(`${uuid} ${module}`) ? undefined : notActive)
    yield* expect(`DELETE ${module} of ${uuid}`, yield* send("DELETE", path), refused)
    if (refused === undefined) state.modules.delete(`${uuid} ${module}`)
  } else {
    const locations = state.all("locations", command.locations)
    const groups = state.all("groups", command.groups)
    const uuids = (list: ReadonlyArray<string>) => list.map((uuid) => ({ uuid }))
    const body = module === "stock" ? {} : { mode: command.mode, locations: uuids(locations), groups: uuids(groups) }
    const unknown =
      module === "stock"
        ? undefined
        : locations.some((one) => !state.has("locations", one))
          ? notFound("locations")
          : groups.some((one) => !state.has("groups", one))
            ? notFound("groups")
            : undefined
    const refused = unowned ?? unknown
    yield* expect(`PUT ${module} of ${uuid} ${JSON.stringify(body)}`, yield* send("PUT", path, { body }), refused)
    if (refused === undefined) state.modules.set(`${uuid} ${module}`, body)
  }
  yield* compareModule(state, uuid, module)
})

const upload = Effect.fnUntraced(function* (state: State, { name }: Extract<Command, { op: "upload" }>) {
  const bytes = Buffer.from(`The bytes of ${name}`)
  const begun = yield* send("POST", "/v1/uploads/init-multi-part", { body: { fileName: name, fileSize: bytes.length } })
  yield* expect(`begin ${name}`, begun, undefined, 201)
  const { parts, uuid } = begun.body.data
  const { headers } = yield* put(parts[0].url, bytes)
  const body = { uuid, parts: [{ partNumber: 1, eTag: headers.get("etag") }] }
  const completed = yield* send("PUT", "/v1/uploads/complete-multi-part", { body })
  yield* expect(`complete ${name}`, completed, undefined)
  state.files.set(completed.body.data.fileUuid, { name, size: bytes.length })
})

/** Runs a command on the service and on the model; fails with the difference between the results. */
export const perform = (state: State, command: Command) => {
  switch (command.op) {
    case "create":
      return create(state, command)
    case "patch":
      return patch(state, command)
    case "delete":
      return remove(state, command)
    case "link":
      return link(state, command)
    case "media":
      return media(state, command)
    case "upload":
      return upload(state, command)
    default:
      return writeModule(state, command)
  }
}
