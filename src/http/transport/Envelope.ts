import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { type Precondition, preconditionOf } from "../../domain/query/Precondition.ts"
import { isDefault, type Selection } from "../../domain/query/Selection.ts"
import { audited } from "./AuditLog.ts"
import { appendHeaders } from "./ResponseHeaders.ts"
import { CurrentTransaction } from "../../domain/write/SurroundingTransaction.ts"
import type { Written, WrittenWith } from "../../domain/write/Written.ts"
import { entityTag, isKnown, pageTag, setEntityTag } from "../../sql/EntityTag.ts"

/**
 * Answers of text that PostgreSQL has already encoded. HttpApi passes a response through, so nothing is decoded or
 * encoded here; the tests decode every such answer with the endpoint's schema instead.
 */
const answer = (body: string | Uint8Array, etag: string) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const headersOfAnswer = { etag, "cache-control": "private, no-cache" }
    return isKnown(headers["if-none-match"], etag)
      ? HttpServerResponse.empty({ status: 304, headers: headersOfAnswer })
      : typeof body === "string"
        ? HttpServerResponse.text(body, { contentType: "application/json", headers: headersOfAnswer })
        : HttpServerResponse.uint8Array(body, { contentType: "application/json", headers: headersOfAnswer })
  })

/** One record. The tag of a part of it, or of more than it, is weak: it is no precondition of a write. */
export const one = <A, E, R>(
  record: Effect.Effect<Encoded<A>, E, R>,
  selection?: Selection,
  tagOf: (json: string) => string = entityTag
) =>
  Effect.flatMap(record, (json) =>
    answer(`{"_tag":"Success","data":${json}}`, isDefault(selection) ? tagOf(json) : `W/${entityTag(json)}`)
  )

/** One record as it was: no precondition of a write, so that it has no entity tag. */
export const past = <A, E, R>(record: Effect.Effect<Encoded<A>, E, R>) =>
  Effect.map(record, (json) =>
    HttpServerResponse.text(`{"_tag":"Success","data":${json}}`, {
      contentType: "application/json",
      headers: { "cache-control": "private, no-store" }
    })
  )

/** A page of a list. */
export const page = <A, E, R>(list: Effect.Effect<EncodedPage<A>, E, R>) =>
  Effect.flatMap(list, ({ data, pagination, setTag }) => {
    // A large page is encoded once, for its tag and for the answer.
    const body = Buffer.from(`{"_tag":"Success","data":${data},"pagination":${JSON.stringify(pagination)}}`)
    return answer(body, pageTag(body, setTag))
  })

/** A page of a list, and counts of its records. */
export const countedPage = <A, C, E, R>(list: Effect.Effect<EncodedPage<A> & { readonly counts: Encoded<C> }, E, R>) =>
  Effect.flatMap(list, ({ counts, data, pagination }) => {
    const body = Buffer.from(
      `{"_tag":"Success","data":${data},"counts":${counts},"pagination":${JSON.stringify(pagination)}}`
    )
    return answer(body, pageTag(body, undefined))
  })

/** A part of the change log. */
export const cursorPage = <A, E, R>(
  page: Effect.Effect<{ readonly data: Encoded<A>; readonly cursor: string; readonly more: boolean }, E, R>
) =>
  Effect.flatMap(page, ({ cursor, data, more }) => {
    const body = Buffer.from(`{"_tag":"Success","data":${data},"cursor":"${cursor}","more":${more}}`)
    return answer(body, pageTag(body, undefined))
  })

/** The precondition of a write. */
export const ifMatch = ({ headers }: HttpServerRequest.HttpServerRequest): Precondition =>
  preconditionOf(headers["if-match"])

/** The answer to a write, which is logged: every operation that writes goes through here or `writtenAnswer`. */
export const written = <Kind extends string, Id extends string, E, R>(write: Effect.Effect<Written<Kind, Id>, E, R>) =>
  Effect.flatMap(audited(write), ({ setTag, uuid }) => {
    const tagged = setTag === undefined ? Effect.void : setHeader("etag", setEntityTag(setTag))
    return Effect.as(tagged, { uuid })
  })

/** Sets a header of the answer to a write. */
const setHeader = (name: string, value: string) =>
  Effect.flatMap(CurrentTransaction, (surrounding) =>
    surrounding === undefined
      ? appendHeaders({ [name]: value })
      : Effect.sync(() => void surrounding.headers.set(name, value))
  )

/** The answer to a write that has more than the uuid. */
export const writtenAnswer = <Kind extends string, Id extends string, Answer, E, R>(
  write: Effect.Effect<WrittenWith<Kind, Id, Answer>, E, R>
) => Effect.map(audited(write), ({ answer }) => answer)

/** Adds a warning to the response. */
export const warn = (text: string) => setHeader("warning", `299 - "${text}"`)
