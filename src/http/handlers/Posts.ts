import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Api } from "../../api/Api.ts"
import { PostNotFoundError } from "../../domain/posts/Post.ts"
import { Posts } from "../../repositories/posts/Posts.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import { PastRecords } from "../../repositories/changes/PastRecords.ts"
import { viewOf } from "./reads/PostView.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./reads/Delta.ts"
import * as History from "./reads/History.ts"
import * as Restore from "./writes/Restore.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "posts",
  Effect.fnUntraced(function* (handlers) {
    const posts = yield* Posts
    const historyOf = yield* History.make
    const past = yield* PastRecords
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("posts"),
      delta: deltaOf("post"),
      list: ({ query: { locale, ...request } }) =>
        Envelope.page(Effect.flatMap(viewOf(locale), (view) => posts.list(request, view))),
      create: ({ payload }) => Envelope.written(posts.create(payload)),
      restore: ({ params, payload, request }) =>
        Effect.flatMap(viewOf(), (view) => {
          const read = Effect.map(posts.get(params.uuid, view), ({ json }) => json)
          return Restore.restored(restoring.posts, { ...params, ...payload, request, read })
        }),
      history: historyOf("post", PostNotFoundError.of),
      get: Effect.fnUntraced(function* ({ params, query: { at, fields, locale } }) {
        const view = { ...(yield* viewOf(locale)), fields }
        const read = at === undefined ? posts.get(params.uuid, view) : past.getPost(params.uuid, at, view)
        const { json, language } = yield* read
        const answer = yield* at === undefined
          ? Envelope.one(Effect.succeed(json), { fields })
          : Envelope.past(Effect.succeed(json))
        return language === undefined ? answer : HttpServerResponse.setHeader(answer, "content-language", language)
      }),
      update: ({ params, payload, request }) =>
        Envelope.written(
          Effect.flatMap(viewOf(), (view) => posts.update(params.uuid, payload, view, Envelope.ifMatch(request)))
        ),
      delete: ({ params, request }) =>
        Envelope.written(Effect.flatMap(viewOf(), (view) => posts.delete(params.uuid, view, Envelope.ifMatch(request))))
    })
  })
)
