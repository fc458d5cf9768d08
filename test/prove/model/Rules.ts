import type { Kind } from "./Commands.ts"
import { type Json, merge, type State } from "./State.ts"

/** What is answered instead of a success. */
export interface Refusal {
  readonly status: number
  readonly tag: string
}

const refusal = (status: number, tag: string): Refusal => ({ status, tag })
export const invalid = refusal(400, "InvalidRequestError")
const missing = (kind: Kind | "files"): Refusal =>
  refusal(
    404,
    `${{ locations: "Location", users: "User", groups: "Group", products: "Product", posts: "Post", assets: "Asset", files: "File" }[kind]}NotFoundError`
  )
export const notFound = missing

const fold = (value: unknown) => String(value).normalize("NFC").toLowerCase()

/** The first of these that is wrong. */
const first = (...checks: ReadonlyArray<readonly [isWrong: boolean, refused: Refusal]>): Refusal | undefined =>
  checks.find(([isWrong]) => isWrong)?.[1]

const taken = (
  state: State,
  kind: Kind,
  uuid: string | undefined,
  member: string,
  value: unknown,
  form: (value: unknown) => unknown = String
) =>
  value !== undefined &&
  [...state.records[kind]].some(
    ([other, record]) => other !== uuid && record[member] !== undefined && form(record[member]) === form(value)
  )

const unknownIn = (state: State, kind: Kind, uuids: ReadonlyArray<string> = []) =>
  uuids.some((uuid) => !state.has(kind, uuid))

const moved = (before: Json | undefined, after: Json, moves: ReadonlyArray<string>) =>
  before !== undefined &&
  before["status"] !== after["status"] &&
  !moves.includes(`${before["status"]} ${after["status"]}`)

/** An order of two moments that must hold when both are set. */
const inOrder = (from: string | undefined, until: string | undefined) =>
  from === undefined || until === undefined || from < until

/** What a kind of record is made of, and what is refused. */
export interface Rules {
  /** Members that must be there: cleared, the request does not decode. */
  readonly required: ReadonlyArray<string>
  /** Members that are always there, each element once. */
  readonly lists: ReadonlyArray<string>
  /** What a new record has without being told. */
  readonly defaults: (body: Json) => Json
  /** Records that are named must exist; told before a rule that the request breaks. */
  readonly references: (state: State, body: Json) => Refusal | undefined
  /** What is wrong with the record as it would be. */
  readonly problem: (
    state: State,
    uuid: string | undefined,
    before: Json | undefined,
    after: Json,
    sent: Json
  ) => Refusal | undefined
  readonly merge?: (before: Json, patch: Json) => Json
}

export const rules: Readonly<Record<Kind, Rules>> = {
  locations: {
    required: ["name", "identifier"],
    lists: ["postalCodes"],
    defaults: (body) => body,
    references: () => undefined,
    problem: (state, uuid, _before, after, sent) =>
      first(
        [sent["locale"] === "zz-ZZ", refusal(400, "InvalidLocaleError")],
        [(after["coordinates"]?.latitude === undefined) !== (after["coordinates"]?.longitude === undefined), invalid],
        [taken(state, "locations", uuid, "identifier", after["identifier"]), refusal(400, "DuplicateIdentifierError")]
      )
  },
  users: {
    required: ["username", "email"],
    lists: [],
    defaults: (body) => ({ status: "active", role: "ROLE_USER", languageCode: "en", ...body }),
    references: () => undefined,
    problem: (state, uuid, before, after, sent) =>
      first(
        [sent["languageCode"] === "qq", refusal(400, "InvalidLocaleError")],
        [moved(before, after, ["pending active", "active suspended", "suspended active"]), invalid],
        [taken(state, "users", uuid, "externalId", after["externalId"]), invalid],
        [taken(state, "users", uuid, "username", after["username"], fold), refusal(409, "UsernameNotUniqueError")],
        [taken(state, "users", uuid, "email", after["email"], fold), refusal(409, "EmailNotUniqueError")]
      )
  },
  groups: {
    required: ["name"],
    lists: [],
    defaults: (body) => body,
    references: (state, body) =>
      first(
        [unknownIn(state, "users", body["users"]), missing("users")],
        [unknownIn(state, "locations", body["locations"]), missing("locations")]
      ),
    problem: (state, uuid, _before, after) =>
      first(
        [taken(state, "groups", uuid, "externalId", after["externalId"]), invalid],
        [taken(state, "groups", uuid, "name", after["name"], fold), refusal(400, "DuplicateGroupNameError")]
      )
  },
  products: {
    required: ["name", "identifier"],
    lists: ["translations", "categories", "tags"],
    defaults: (body) => ({ status: "draft", position: 0, ...body }),
    references: (state, body) =>
      first([
        typeof body["parentUuid"] === "string" && !state.has("products", body["parentUuid"]),
        missing("products")
      ]),
    problem: (state, uuid, before, after) =>
      first(
        [moved(before, after, ["draft published", "published archived", "archived draft"]), invalid],
        [!inOrder(after["visibleFrom"], after["visibleUntil"]), invalid],
        [(after["type"] === "variant") !== (after["parentUuid"] !== undefined), invalid],
        [(after["type"] === "variant") !== (after["optionValues"] !== undefined), invalid],
        [taken(state, "products", uuid, "identifier", after["identifier"]), refusal(400, "DuplicateIdentifierError")],
        [
          [...state.records.products].some(
            ([other, record]) =>
              other !== uuid &&
              record["parentUuid"] !== undefined &&
              record["parentUuid"] === after["parentUuid"] &&
              record["optionValues"][0].value === after["optionValues"]?.[0]?.value
          ),
          invalid
        ],
        [
          after["parentUuid"] !== undefined &&
            state.records.products.get(after["parentUuid"])?.["type"] !== "variantParent",
          invalid
        ]
      )
  },
  posts: {
    required: ["slug", "type", "translations"],
    lists: ["categories", "tags", "mediaAssetUuids"],
    defaults: (body) => ({
      status: "draft",
      pinned: false,
      ...body,
      audience: { authorizationType: "groups", groups: [], locations: [], ...body["audience"] }
    }),
    references: (state, body) => {
      const uuids = (list: ReadonlyArray<Json> = []) => list.map(({ uuid }) => uuid as string)
      const assets = [...(body["coverAssetUuid"] ? [body["coverAssetUuid"]] : []), ...(body["mediaAssetUuids"] ?? [])]
      return first(
        [unknownIn(state, "users", body["author"] ? [body["author"].uuid] : []), missing("users")],
        [unknownIn(state, "groups", uuids(body["audience"]?.groups)), missing("groups")],
        [unknownIn(state, "locations", uuids(body["audience"]?.locations)), missing("locations")],
        [unknownIn(state, "assets", assets), missing("assets")]
      )
    },
    problem: (state, uuid, before, after) =>
      first(
        [before === undefined && after["status"] === "published", invalid],
        [moved(before, after, ["draft scheduled", "scheduled draft", "scheduled published"]), invalid],
        [after["status"] === "scheduled" && after["publishAt"] === undefined, invalid],
        [!inOrder(after["publishAt"], after["expireAt"]), invalid],
        [taken(state, "posts", uuid, "slug", after["slug"]), invalid]
      )
  },
  assets: {
    required: [],
    lists: [],
    defaults: (body) => body,
    references: (state, body) =>
      first([body["fileUuid"] !== undefined && !state.files.has(body["fileUuid"]), missing("files")]),
    problem: (state, uuid, _before, after) =>
      first(
        [taken(state, "assets", uuid, "fileUuid", after["fileUuid"]), invalid],
        [
          after["translations"].length === 0 || after["translations"].some(({ name }: Json) => name === undefined),
          invalid
        ],
        [!inOrder(after["validFrom"], after["validUntil"]), invalid],
        [(after["focalPoint"]?.x === undefined) !== (after["focalPoint"]?.y === undefined), invalid]
      ),
    merge: (before, { translations, ...patch }) => {
      const told = new Map<string, Json>((before["translations"] ?? []).map((item: Json) => [item["locale"], item]))
      for (const item of translations ?? []) {
        if (item.name === null) told.delete(item.locale)
        else told.set(item.locale, merge(told.get(item.locale), item))
      }
      return {
        ...merge(before, patch),
        translations: [...told.values()].toSorted((a, b) => (a["locale"] < b["locale"] ? -1 : 1))
      }
    }
  }
}

/** The record as a patch leaves it. */
export const patched = (kind: Kind, before: Json, patch: Json): Json => {
  const after = (rules[kind].merge ?? merge)(before, patch)
  return {
    ...after,
    ...Object.fromEntries(rules[kind].lists.map((member) => [member, [...new Set(after[member] ?? [])]]))
  }
}
