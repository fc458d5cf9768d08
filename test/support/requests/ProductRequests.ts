import { Effect } from "effect"
import { send, unique } from "./Requests.ts"

type Fields = Readonly<Record<string, unknown>>

const created = (path: string, body: Fields) =>
  Effect.map(send("POST", path, { body }), ({ body, status }) => {
    if (status !== 201) throw new Error(`Not created: ${JSON.stringify(body)}`)
    return body.data.uuid as string
  })

export const postProduct = (fields: Fields = {}) =>
  send("POST", "/v1/products", { body: { type: "default", name: "Flyer", identifier: unique("product"), ...fields } })

/** Creates a product and returns its uuid. */
export const createProduct = (fields: Fields = {}) =>
  created("/v1/products", { type: "default", name: "Flyer", identifier: unique("product"), ...fields })

let combination = 0

/** Creates a variant with a combination of options that no other variant has. */
export const createVariant = (parentUuid: string, fields: Fields = {}) =>
  createProduct({
    type: "variant",
    parentUuid,
    optionValues: [{ option: "size", value: `a${++combination}` }],
    ...fields
  })

export const readProduct = (uuid: string) => Effect.map(send("GET", `/v1/products/${uuid}`), ({ body }) => body.data)
export const patchProduct = (uuid: string, body: unknown) => send("PATCH", `/v1/products/${uuid}`, { body })

const pathOf = (uuid: string, name: string) => `/v1/products/${uuid}/modules/${name}`
export const getModule = (uuid: string, name: string, key?: string) =>
  send("GET", pathOf(uuid, name), key === undefined ? {} : { key })
export const putModule = (uuid: string, name: string, body: unknown) => send("PUT", pathOf(uuid, name), { body })
export const deleteModule = (uuid: string, name: string) => send("DELETE", pathOf(uuid, name))

/** The module as GET returns it; it must be active. */
export const readModule = (uuid: string, name: string) =>
  Effect.map(getModule(uuid, name), ({ body, text }) => {
    if (body.data === undefined) throw new Error(`Not read: ${text}`)
    return body.data
  })

/** Activates a module and reads it back. */
export const activate = (uuid: string, name: string, body: unknown) =>
  Effect.flatMap(putModule(uuid, name, body), ({ status, text }) => {
    if (status !== 200) throw new Error(`Not active: ${text}`)
    return readModule(uuid, name)
  })

export const createUser = (fields: Fields = {}) => {
  const username = unique("user")
  return created("/v1/users", { username, email: `${username}@example.com`, ...fields })
}
export const createLocation = (fields: Fields = {}) =>
  created("/v1/locations", { name: "Branch", identifier: unique("branch"), ...fields })
export const createGroup = (fields: Fields = {}) => created("/v1/groups", { name: unique("Group"), ...fields })

const hour = 3_600_000

/** A full hour more than an hour from now. It is read once, because a full hour may strike between two requests of a test. */
const base = Math.floor(Date.now() / hour) + 2

/** A point in time, in hours from the base. */
export const inHours = (hours: number) => new Date((base + hours) * hour).toISOString()

/** A reservation body, in hours from the base. */
export const reservationOf = (locationUuid: string, from: number, until: number, fields: Fields = {}) => ({
  locationUuid,
  from: inHours(from),
  until: inHours(until),
  ...fields
})

export const reserve = (product: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send("POST", `/v1/products/${product}/reservations`, { body, headers })
export const cancelReservation = (product: string, uuid: string, headers: Readonly<Record<string, string>> = {}) =>
  send("POST", `/v1/products/${product}/reservations/${uuid}/cancel`, { headers })

/** The smallest body that activates each module. */
export const minimalSettings: Readonly<Record<string, Fields>> = {
  api: {},
  delivery: {},
  distribution: {},
  locations: {},
  files: {},
  stock: {},
  price: {},
  workflow: { name: "Two pairs of eyes", steps: [{ name: "Marketing", approvers: { type: "locationManagers" } }] },
  socials: {},
  "internal-comment": {},
  campaigns: {},
  permissions: {},
  reservations: {},
  template: { outputs: [{ key: "print", format: "pdf", widthMm: 148, heightMm: 210 }] },
  "form-builder": { fields: [{ key: "name", type: "text" }] },
  variants: { options: [{ key: "size", values: [{ key: "a1" }] }] }
}
