import type { Target } from "./target.ts"

/** A request; sqlmap tests every place marked with a star. */
export interface Aim {
  readonly path: string
  readonly method?: string
  readonly data?: unknown
  readonly headers?: ReadonlyArray<string>
  /** The expected status, if not 200. */
  readonly expectedStatus?: number
}

const lists = {
  users: ["username", "email"],
  products: ["identifier", "position"],
  locations: ["address.city", "createdAt"],
  groups: ["name", "userCount"],
  assets: ["fileNameOriginal", "fileSize"],
  posts: ["slug", "publishAt"],
  "asset-categories": ["key", "position"],
  "meta-tags": ["key", "type"],
  "api-keys": ["name", "expiresAt"]
}

const valueOf = (field: string) =>
  field.endsWith("At") ? "gt:2020-01-01*" : /Size|Count|position/.test(field) ? "gte:0*" : "contains:a*"

export const aims = ({ file, uuids }: Target): ReadonlyArray<Aim> => [
  ...Object.entries(lists).map(([list, [text, other]]) => ({
    path: `/v1/${list}?limit=5*&page=1*&sortBy=createdAt*&sortOrder=asc*&filter=${text}*:contains*:a*,${other}:${valueOf(other!)}`
  })),
  { path: "/v1/assets/search?search=zomer*&locale=nl*&category=x*&sortBy=name*&sortOrder=asc*&include=metaTags*" },
  { path: "/v1/assets/search?search=zomer*&filter=fileSize:gte:0*" },
  { path: "/v1/assets/meta-tags?locale=en*&category=x*" },
  { path: `/v1/groups/${uuids.group}/users?filter=username:contains:a*&sortBy=username*` },
  { path: `/v1/users/${uuids.user}/locations?filter=name:contains:a*&sortBy=name*` },
  { path: `/v1/locations/${uuids.location}*` },
  { path: `/v1/users/${uuids.user}*/groups` },
  { path: `/v1/products/${uuids.product}*/modules/price` },
  { path: `/v1/posts/${uuids.post}*?locale=en*` },
  { path: `/v1/assets/${uuids.asset}*?include=metaTags*` },
  { path: file.replace(/\?expires=(\d+)&signature=(.+)$/, "*?expires=$1*&signature=$2*"), expectedStatus: 403 },
  {
    method: "POST",
    path: "/v1/locations",
    data: { name: "a*", identifier: "b*", postalCodes: ["c*"], address: { city: "d*", countryCode: "NL*" } }
  },
  {
    method: "PATCH",
    path: `/v1/locations/${uuids.location}`,
    data: {
      name: "a*",
      identifier: "b*",
      locale: "nl-NL*",
      contact: { email: "c@example.com*" },
      other: { extraDna1: "d*" }
    }
  },
  { method: "POST", path: "/v1/users", data: { username: "a*", email: "b@example.com*", firstName: "c*" } },
  { method: "PATCH", path: `/v1/users/${uuids.user}`, data: { firstName: "a*", externalId: "b*", phone: "c*" } },
  { method: "PUT", path: `/v1/users/${uuids.user}/groups`, data: { groups: [`${uuids.group}*`] } },
  { method: "POST", path: "/v1/groups", data: { name: "a*", description: "b*" } },
  { method: "PATCH", path: `/v1/groups/${uuids.group}`, data: { name: "a*", users: [`${uuids.user}*`] } },
  { method: "POST", path: "/v1/products", data: { type: "default*", identifier: "a*", name: "b*", tags: ["c*"] } },
  { method: "PATCH", path: `/v1/products/${uuids.product}`, data: { name: "a*", description: "b*" } },
  {
    method: "PUT",
    path: `/v1/products/${uuids.product}/modules/internal-comment`,
    data: { comments: [{ text: "a*", authorUuid: `${uuids.user}*` }] }
  },
  {
    method: "POST",
    path: "/v1/posts",
    data: { type: "news", translations: [{ locale: "en*", title: "a*", body: "b*" }] }
  },
  {
    method: "PATCH",
    path: `/v1/posts/${uuids.post}`,
    data: { slug: "a*", translations: [{ locale: "en", title: "b*" }] }
  },
  {
    method: "PATCH",
    path: `/v1/assets/${uuids.asset}`,
    data: { translations: [{ locale: "en*", name: "a*", description: "b*" }], categories: ["c*"] }
  },
  { method: "PATCH", path: `/v1/assets/${uuids.asset}/meta-tags`, data: { metaTags: [{ key: "a*", value: "b*" }] } },
  { method: "POST", path: "/v1/asset-categories", data: { key: "a*", translations: [{ locale: "en", name: "b*" }] } },
  { method: "POST", path: "/v1/meta-tags", data: { key: "a*", type: "text*" } },
  { method: "POST", path: "/v1/uploads/init-multi-part", data: { fileName: "a*", fileSize: 10, sha256: "b*" } },
  { path: "/v1/me", headers: ["Authorization: wp_0KpxfAusDC0qJs9NGEenIB_x*"], expectedStatus: 401 },
  { path: "/v1/locations", headers: ["If-None-Match: x*", "X-Request-Id: y*", "User-Agent: z*"] }
]
