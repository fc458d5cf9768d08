import type { Kind } from "./Commands.ts"
import { type Json, merge, type State } from "./State.ts"

/** An error response. */
export interface Rejection {
  readonly status: number
  readonly tag: string
}

const rejection = (status: number, tag: string): Rejection => ({ status, tag })
export const invalid = rejection(400, "InvalidRequestError")
const missing = (kind: Kind | "files"): Rejection =>
  rejection(
    404,
    `${{ locations: "Location", users: "User", groups: "Group", products: "Product", posts: "Post", assets: "Asset", files: "File" }[kind]}NotFoundError`
  )
export const notFound = missing

const fold = (value: unknown) => String(value).normalize("NFC").toLowerCase()

/** The error of the first check that fails. */
const first = (...checks: ReadonlyArray<readonly [isWrong: boolean, refused: Rejection]>): Rejection | undefined =>
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

/** Whether two times are in order; true when either is unset. */
const inOrder = (from: string | undefined, until: string | undefined) =>
  from === undefined || until === undefined || from < until

/** The members of a kind of record, and its errors. */
export interface Rules {
  /** Required members: a request that clears one does not decode. */
  readonly required: ReadonlyArray<string>
  /** Lists that are always present, without duplicates. */
  readonly lists: ReadonlyArray<string>
  /** The defaults of a new record. */
  readonly defaults: (body: Json) => Json
  /** The error for references to unknown records, which precedes rule violations. */
  readonly references: (state: State, body: Json) => Rejection | undefined
  /** The error that the resulting record would cause. */
  readonly problem: (
    state: State,
    uuid: string | undefined,
    before: Json | undefined,
    after: Json,
    sent: Json
  ) => Rejection | undefined
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
        [sent["locale"] === "zz-ZZ", rejection(400, "InvalidLocaleError")],
        [(after["coordinates"]?.latitude === undefined) !== (after["coordinates"]?.longitude === undefined), invalid],
        [taken(state, "locations", uuid, "identifier", after["identifier"]), rejection(400, "DuplicateIdentifierError")]
      )
  },
  users: {
    required: ["username", "email"],
    lists: [],
    defaults: (body) => ({ status: "active", role: "ROLE_USER", languageCode: "en", ...body }),
    references: () => undefined,
    problem: (state, uuid, before, after, sent) =>
      first(
        [sent["languageCode"] === "qq", rejection(400, "InvalidLocaleError")],
        [moved(before, after, ["pending active", "active suspended", "suspended active"]), invalid],
        [taken(state, "users", uuid, "externalId", after["externalId"]), invalid],
        [taken(state, "users", uuid, "username", after["username"], fold), rejection(409, "UsernameNotUniqueError")],
        [taken(state, "users", uuid, "email", after["email"], fold), rejection(409, "EmailNotUniqueError")]
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
        [taken(state, "groups", uuid, "name", after["name"], fold), rejection(400, "DuplicateGroupNameError")]
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
        [taken(state, "products", uuid, "identifier", after["identifier"]), rejection(400, "DuplicateIdentifierError")],
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
      const items = new Map<string, Json>((before["translations"] ?? []).map((item: Json) => [item["locale"], item]))
      for (const item of translations ?? []) {
        if (item.name === null) items.delete(item.locale)
        else items.set(item.locale, merge(items.get(item.locale), item))
      }
      return {
        ...merge(before, patch),
        translations: [...items.values()].toSorted((a, b) => (a["locale"] < b["locale"] ? -1 : 1))
      }
    }
  }
}

/** The record after a patch. */
export const patched = (kind: Kind, before: Json, patch: Json): Json => {
  const after = (rules[kind].merge ?? merge)(before, patch)
  return {
    ...after,
    ...Object.fromEntries(rules[kind].lists.map((member) => [member, [...new Set(after[member] ?? [])]]))
  }
}
