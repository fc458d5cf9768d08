import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { send, unique } from "./Requests.ts"

export type Fields = Readonly<Record<string, unknown>>

/** A translation with a title that is unique within the test file. */
export const translation = (fields: Fields = {}) => ({ locale: "en", title: unique("Post"), ...fields })

export const postPost = (fields: Fields = {}, key?: string) =>
  send("POST", "/v1/posts", {
    body: { type: "news", translations: [translation()], ...fields },
    ...(key === undefined ? {} : { key })
  })

/** Creates a post and returns its uuid. */
export const createPost = (fields: Fields = {}) =>
  Effect.map(postPost(fields), ({ body, text }) => (body.data?.uuid as string) ?? assert.fail(text))

export const patchPost = (uuid: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send("PATCH", `/v1/posts/${uuid}`, { body, headers })

/** The post as GET returns it. */
export const readPost = (uuid: string, query = "") =>
  Effect.map(send("GET", `/v1/posts/${uuid}${query}`), ({ body }) => body.data)
