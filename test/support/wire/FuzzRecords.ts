import { Effect } from "effect"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import { type Answer, Wire } from "./Wire.ts"

/** The maximum number of target records per kind. */
const maxTargets = 40

const unknownUuids = ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"]

/** Uploads a small file. */
const upload = Effect.fnUntraced(function* (name: string) {
  const { send } = yield* Wire
  const bytes = Buffer.from(name)
  const init = JSON.stringify({ fileName: `${name}.txt`, fileSize: bytes.length })
  const { parts, uuid } = (yield* send("POST", "/v1/uploads/init-multi-part", { body: init })).body.data
  const { pathname, search } = new URL(parts[0].url)
  const { headers } = yield* send("PUT", pathname + search, { body: bytes, key: null })
  const complete = JSON.stringify({ uuid, parts: [{ partNumber: 1, eTag: headers["etag"] }] })
  const { fileUuid } = (yield* send("PUT", "/v1/uploads/complete-multi-part", { body: complete })).body.data
  return { fileUuid }
})

/** Bodies of records of every kind with a unique name. */
const bodies: Readonly<Record<string, (name: string, index: number) => object>> = {
  "/v1/locations": (name) => ({ name: "Victim", identifier: name }),
  "/v1/products": (name, index) => ({
    name: "Victim",
    identifier: name,
    type: index % 2 === 0 ? "default" : "variantParent"
  }),
  "/v1/users": (name) => ({ username: name, email: `${name}@example.com` }),
  "/v1/groups": (name) => ({ name }),
  "/v1/posts": (name) => ({ type: "news", translations: [{ locale: "en", title: name }] }),
  "/v1/asset-categories": (name) => ({ key: name }),
  "/v1/meta-tags": (name) => ({
    key: name.replaceAll("-", "_"),
    type: "text",
    translations: [{ locale: "en", name }]
  }),
  "/v1/api-keys": (name, index) => ({ name, permissions: [Permission.all[index]] })
}

/** Target records of a fuzzer: some of each kind and those it created, but never the key it uses. */
export const make = Effect.fnUntraced(function* (seed: number) {
  const { send } = yield* Wire
  const byKind = new Map<string, Array<string>>()
  /** Records the uuid that a request created, if any. */
  const note = (method: string, path: string, { body, status }: Answer) => {
    const uuid = body?.data?.uuid
    if (method !== "POST" || status !== 201 || typeof uuid !== "string") return
    const kind = path.split(/[?/]/).slice(0, 3).join("/")
    const uuids = byKind.get(kind) ?? []
    uuids.push(uuid)
    byKind.set(kind, uuids.slice(-maxTargets))
  }
  for (let index = 0; index < 6; index++) {
    const name = `victim-${seed}-${index}`
    const file = yield* upload(name)
    const all: typeof bodies = { ...bodies, "/v1/assets": () => file }
    for (const [path, body] of Object.entries(all)) {
      const answer = yield* send("POST", path, { body: JSON.stringify(body(name, index)) })
      if (answer.status !== 201) return yield* Effect.die(new Error(`${path}: ${answer.text}`))
      note("POST", path, answer)
    }
  }
  return {
    note,
    /** The target uuids for the kind of a path. */
    of: (path: string) => byKind.get(path.split("/").slice(0, 3).join("/")) ?? unknownUuids,
    /** All target uuids and unknown ones. */
    all: () => [...unknownUuids, ...[...byKind.values()].flat()]
  }
})
