import { Effect } from "effect"
import { send, type Sent, unique } from "./Requests.ts"

/** An operation of a bulk request, as it is sent. */
export type Operation = Readonly<Record<string, unknown>>

/** Sends operations on the records of a resource; `mode` and other members of the body are left out unless given. */
export const bulk = (
  resource: string,
  operations: ReadonlyArray<Operation>,
  { body = {}, ...sent }: Sent & { readonly body?: object } = {}
) => send("POST", `/v1/${resource}/bulk`, { ...sent, body: { ...body, operations } })

export const create = (data: object): Operation => ({ op: "create", data })
export const update = (uuid: string, data: object, more: object = {}): Operation => ({
  op: "update",
  uuid,
  data,
  ...more
})
export const upsert = (key: string, data: object): Operation => ({ op: "upsert", key, data })
export const remove = (uuid: string, more: object = {}): Operation => ({ op: "delete", uuid, ...more })

/** The creation of a location. */
export const creation = (fields: object = {}): Operation =>
  create({ name: "Branch", identifier: unique("bulk"), ...fields })

interface Outcome {
  readonly index: number
  readonly status: number
  readonly uuid?: string
  readonly error?: { readonly _tag: string; readonly issues?: ReadonlyArray<Readonly<Record<string, string>>> }
}

/** The outcomes of a bulk request as `status tag path code`, for comparison in one assertion. */
export const outcomesOf = ({ body }: { readonly body: { readonly data: ReadonlyArray<Outcome> } }) =>
  body.data.map(({ error, status }) =>
    error === undefined
      ? String(status)
      : [status, error._tag, ...(error.issues ?? []).map(({ code, path }) => `${path} ${code}`)].join(" ")
  )

/** The uuid of each outcome. */
export const uuidsOf = ({ body }: { readonly body: { readonly data: ReadonlyArray<Outcome> } }) =>
  body.data.map(({ uuid }) => uuid!)

/** Creates records of a resource with one request and returns their uuids. */
export const createAll = Effect.fnUntraced(function* (resource: string, records: ReadonlyArray<object>) {
  const answer = yield* bulk(resource, records.map(create))
  if (answer.body.counts?.["201"] !== records.length) throw new Error(`Not created: ${answer.text}`)
  return uuidsOf(answer)
})

/** How many locations have an identifier that begins so. */
export const countOf = (prefix: string) =>
  Effect.map(
    send("GET", `/v1/locations?limit=1&filter=identifier:startsWith:${prefix}`),
    ({ body }) => body.pagination.total as number
  )
