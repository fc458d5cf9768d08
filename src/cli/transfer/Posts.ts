import { Clock, DateTime, Effect, Schema, Struct } from "effect"
import type { Client } from "../../client/Client.ts"
import { Audience, AudienceWrite } from "../../domain/people/Audience.ts"
import { text } from "../../domain/schema/Fields.ts"
import { type PartialPost, Post, PostCreate, type PostId } from "../../domain/posts/Post.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Failure } from "../Failures.ts"
import * as Names from "./Names.ts"
import { enrich, names } from "./Relations.ts"
import type { Resource } from "./Resource.ts"
import type { Json } from "./Row.ts"
import { covers } from "./Rows.ts"

/** Members that have another form in a file. */
const otherwise = ["author", "audience"] as const

const record = Schema.Struct({
  ...Struct.omit(Post.fields, otherwise),
  author: Schema.optionalKey(Schema.String),
  audience: Schema.Struct({ ...Audience.fields, groups: names, locations: names })
})

const optionalNames = Schema.optionalKey(Schema.NullOr(names))

const create = Schema.Struct({
  ...Struct.omit(PostCreate.fields, [...otherwise, "slug"]),
  // What finds the post again. The service would make another one of the title each time.
  slug: Post.fields.slug,
  author: Schema.optionalKey(Schema.NullOr(text(255))),
  audience: Schema.optionalKey(
    Schema.Struct({ ...AudienceWrite.fields, groups: optionalNames, locations: optionalNames })
  )
})
type Row = typeof create.Type

type Status = Post["status"]

/** A post only moves from one of these to the next; from `scheduled` on it does so by itself when its time comes. */
const course: ReadonlyArray<Status> = ["draft", "scheduled", "published", "archived"]
const isBehind = (status: Status, other: Status) => course.indexOf(status) < course.indexOf(other)

/** A scheduled post that has been published by now is what the file asks for. */
const isPassed = (wanted: unknown, existing: Status) =>
  wanted !== "draft" && wanted !== undefined && isBehind(wanted as Status, existing)

const isRefused = (failure: Failure, member: string, problem: string) =>
  failure instanceof InvalidRequestError && failure.issues.some(({ code, path }) => path === member && code === problem)

/** Posts by slug. The author is a username, and an audience names groups and locations. */
export const posts = {
  name: "posts",
  record,
  create,
  note: `Authors are usernames; an audience lists groups by name and locations by identifier. A post that should be published is
scheduled and published on the way. As the translations have no place in a table, posts travel as json or ndjson.`,
  key: "slug",
  duplicate: "DuplicateSlugError",
  has: (existing: Json, wanted: Json) =>
    covers(
      existing,
      isPassed(wanted["status"], existing["status"] as Status) ? Struct.omit(wanted, ["status"]) : wanted
    ),
  calls: (client: Client["Service"]) => {
    const { nameOf, uuidOf } = Names.make(client)
    const all = <A, B>(list: ReadonlyArray<A>, f: (element: A) => Effect.Effect<B, Failure>) =>
      Effect.forEach(list, f, { concurrency: 8 })

    const toRow = Effect.fnUntraced(function* ({ audience, author, ...post }: Post) {
      return {
        ...post,
        ...(author && { author: yield* nameOf("users", author.uuid) }),
        audience: {
          ...audience,
          groups: yield* all(audience.groups, ({ name, uuid }) =>
            name === undefined ? nameOf("groups", uuid) : Effect.succeed(name)
          ),
          locations: yield* all(audience.locations, ({ identifier, uuid }) =>
            identifier === undefined ? nameOf("locations", uuid) : Effect.succeed(identifier)
          )
        }
      }
    })

    const references = <K extends "groups" | "locations">(kind: K, list: ReadonlyArray<string> | null | undefined) =>
      Effect.map(
        all(list ?? [], (name) => uuidOf(kind, name)),
        (uuids) => (list === undefined ? {} : { [kind]: uuids.map((uuid) => ({ uuid })) })
      )

    const fromRow = Effect.fnUntraced(function* ({ audience, author, ...post }: Row) {
      return {
        ...post,
        ...(author === null && { author }),
        ...(author && { author: { uuid: yield* uuidOf("users", author) } }),
        ...(audience && {
          audience: {
            ...Struct.pick(audience, ["authorizationType"]),
            ...(yield* references("groups", audience.groups)),
            ...(yield* references("locations", audience.locations))
          }
        })
      }
    })

    /** Takes a post from one state to a later one, through those in between; it may be further by itself meanwhile. */
    const move = (uuid: PostId, from: Status, to: Status) =>
      Effect.forEach(
        course.filter((status) => isBehind(from, status) && !isBehind(to, status)),
        (status) =>
          Effect.catchIf(
            client.posts.update({ params: { uuid }, payload: { status } }),
            (failure) => status !== to && isRefused(failure, "status", "forbiddenMove"),
            () => Effect.void
          ),
        { discard: true }
      )

    /** Only what has a time can be scheduled, and only what was scheduled be published. */
    const timed = Effect.fnUntraced(function* (post: Omit<PostCreate, "status">, status: Status) {
      if (!isBehind("scheduled", status)) return post
      const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
      return { ...post, publishAt: post.publishAt ?? post.publishedAt ?? now }
    })

    return {
      list: (query) => enrich(client.posts.list({ query }), toRow),
      create: (row) =>
        Effect.gen(function* () {
          const { status = "draft", ...rest } = yield* fromRow(row)
          const post = yield* timed(rest, status)
          const first = isBehind("scheduled", status) ? "scheduled" : status
          const { uuid } = yield* client.posts
            .create({ payload: { ...post, status: first } })
            .pipe(
              Effect.mapError((failure): Failure =>
                isRefused(failure, "slug", "notUnique")
                  ? { _tag: "DuplicateSlugError", message: failure.message }
                  : failure
              )
            )
          yield* move(uuid, first, status)
        }),
      update: (id, row) =>
        Effect.gen(function* () {
          const uuid = id as PostId
          const { status, ...post } = yield* fromRow(row)
          const current = (yield* client.posts.get({ params: { uuid }, query: {} })).status
          const ahead = status !== undefined && isBehind(current, status)
          const payload: PartialPost = {
            ...(ahead && current === "draft" ? yield* timed(post, status) : post),
            ...(status === undefined || ahead || isPassed(status, current) ? {} : { status })
          }
          yield* client.posts.update({ params: { uuid }, payload })
          if (ahead) yield* move(uuid, current, status)
        })
    }
  }
} satisfies Resource<typeof record.Type, typeof create.Type>
