import { Array as Arr, Clock, DateTime, Effect, Predicate, Schema, Struct } from "effect"
import { type Json, memberOf, textsOf } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import { Audience, AudienceWrite } from "../../domain/people/Audience.ts"
import { text } from "../../domain/schema/Fields.ts"
import { type PartialPost, Post, PostCreate, PostId } from "../../domain/posts/Post.ts"
import { type Failure, hasIssue, isPageTooLarge, retriedWhileBusy } from "../Failures.ts"
import * as Names from "./Names.ts"
import { enrich, names, optionalNames } from "./Relations.ts"
import type { ListRequest, Resource } from "./Resource.ts"
import { covers } from "../../domain/files/Rows.ts"

/** Members with a different form in a file. */
const replaced = ["author", "audience"] as const

const record = Schema.Struct({
  ...Struct.omit(Post.fields, replaced),
  author: Schema.optionalKey(Schema.String),
  audience: Schema.Struct({ ...Audience.fields, groups: names, locations: names })
})

const create = Schema.Struct({
  ...Struct.omit(PostCreate.fields, [...replaced, "slug"]),
  // Required, because rows find their post by it; the service would generate a new one for every row.
  slug: Post.fields.slug,
  // The service ignores it; the import makes it the schedule of a published post.
  publishedAt: Post.fields.publishedAt,
  author: Schema.optionalKey(Schema.NullOr(text(255))),
  audience: Schema.optionalKey(
    Schema.Struct({ ...AudienceWrite.fields, groups: optionalNames, locations: optionalNames })
  )
})
type Row = typeof create.Type

type Status = Post["status"]

/** A post moves only from one status to the next; the service publishes scheduled posts by itself. */
const statuses: ReadonlyArray<Status> = ["draft", "scheduled", "published", "archived"]
const position = (status: unknown) => statuses.findIndex((one) => one === status)
const isBehind = (status: unknown, other: unknown) => position(status) < position(other)

/** Whether the post is past the wanted status, for example because a scheduled post has been published. */
const isPassed = (wanted: unknown, existing: unknown) =>
  wanted !== "draft" && wanted !== undefined && isBehind(wanted, existing)

const all = <A, B>(list: ReadonlyArray<A>, f: (element: A) => Effect.Effect<B, Failure>) =>
  Effect.forEach(list, f, { concurrency: 8 })

/** How many slugs a request names. */
const maxSlugs = 25

/** The statuses of the posts that exist, by their slugs. Posts with long texts are read one by one. */
const statusesOf = (client: Client["Service"], slugs: ReadonlyArray<string>) => {
  const read = (value: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<readonly [string, Status]>, Failure> =>
    Effect.catchIf(
      Effect.map(
        retriedWhileBusy(
          client.posts.list({ query: { limit: value.length, filter: [{ field: "slug", operator: "in", value }] } })
        ),
        ({ data }) => data.map(({ slug, status }) => [slug, status] as const)
      ),
      (failure: Failure) => value.length > 1 && isPageTooLarge(failure),
      () =>
        Effect.map(
          Effect.forEach(value, (slug) => read([slug])),
          (found) => found.flat()
        )
    )
  return Effect.map(
    Effect.forEach(Arr.chunksOf(slugs, maxSlugs), read, { concurrency: 4 }),
    (found) => new Map(found.flat())
  )
}

/** Posts by slug. The author is a username, and an audience names groups and locations. */
export const posts = {
  name: "posts",
  record,
  listed: Post,
  create,
  note: `Authors are usernames; an audience lists groups by name and locations by identifier. A published post is
created as scheduled first. CSV cannot hold translations; use json or ndjson.`,
  key: "slug",
  duplicate: "DuplicateSlugError",
  has: (existing: Json, wanted: Json) =>
    covers(existing, isPassed(wanted["status"], existing["status"]) ? Struct.omit(wanted, ["status"]) : wanted),
  // Texts can be long.
  chunk: 200,
  planned: {
    choose: Effect.fnUntraced(function* (client: Client["Service"], records: ReadonlyArray<Json>) {
      const moved = records.flatMap(({ slug, status }) => (isBehind("draft", status) ? [String(slug)] : []))
      const existing = yield* statusesOf(client, moved)
      return records.map((record): Json | undefined => {
        const { slug, status } = record
        const post = Struct.omit(record, ["publishedAt"])
        if (!isBehind("draft", status)) return post
        const current = existing.get(String(slug))
        // A post that is ahead stays there.
        if (current !== undefined && !isBehind(current, status)) return Struct.omit(post, ["status"])
        return status === "scheduled" ? post : undefined
      })
    }),
    unsupported: {
      path: "status",
      code: "notPlanned",
      message: "A plan does not publish or archive posts; use waypost import"
    }
  },
  toApi: ({ audience, author, ...post }: Json, uuidOf: (kind: Names.NamedKind, name: string) => string): Json => {
    const references = (kind: "groups" | "locations") => {
      const names = memberOf(audience, kind)
      if (names === undefined) return {}
      return { [kind]: textsOf(names).map((name) => ({ uuid: uuidOf(kind, name) })) }
    }
    return {
      ...post,
      ...(author === null && { author }),
      ...(Predicate.isString(author) && { author: { uuid: uuidOf("users", author) } }),
      ...(Predicate.isObject(audience) && {
        audience: { ...audience, ...references("groups"), ...references("locations") }
      })
    }
  },
  list: (client: Client["Service"]) => {
    const { nameOf } = Names.make(client)

    const extend = Effect.fnUntraced(function* ({ audience, author, ...post }: Post) {
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

    const read = ({ uuid }: Post) => client.posts.get({ params: { uuid }, query: {} })
    return (query: ListRequest) => enrich(client.posts.list({ query }), { extend, read })
  },
  writes: (client: Client["Service"]) => {
    const { uuidOf } = Names.make(client)

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

    /** Moves a post to a later status through those in between. The service may move it concurrently. */
    const move = (uuid: PostId, from: Status, to: Status) =>
      Effect.forEach(
        statuses.filter((status) => isBehind(from, status) && !isBehind(to, status)),
        (status) =>
          Effect.catchIf(
            client.posts.update({ params: { uuid }, payload: { status } }),
            (failure) => status !== to && hasIssue(failure, "forbiddenMove", "status"),
            () => Effect.void
          ),
        { discard: true }
      )

    /** Sets the time that a scheduled or published post needs. */
    const withPublishAt = Effect.fnUntraced(function* (
      post: Omit<PostCreate, "status" | "publishedAt"> & Pick<Row, "publishedAt">,
      status: Status
    ) {
      if (!isBehind("scheduled", status)) return post
      const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
      return { ...post, publishAt: post.publishAt ?? post.publishedAt ?? now }
    })

    return {
      create: (row: Row) =>
        Effect.gen(function* () {
          const { status = "draft", ...rest } = yield* fromRow(row)
          const post = yield* withPublishAt(rest, status)
          const first = isBehind("scheduled", status) ? "scheduled" : status
          const { uuid } = yield* client.posts
            .create({ payload: { ...post, status: first } })
            .pipe(
              Effect.mapError((failure): Failure =>
                hasIssue(failure, "notUnique", "slug")
                  ? { _tag: "DuplicateSlugError", message: failure.message }
                  : failure
              )
            )
          yield* move(uuid, first, status)
        }),
      update: (id: string, row: Row) =>
        Effect.gen(function* () {
          const uuid = PostId.make(id)
          const { status, ...post } = yield* fromRow(row)
          const current = (yield* client.posts.get({ params: { uuid }, query: {} })).status
          const ahead = status !== undefined && isBehind(current, status)
          const payload: PartialPost = {
            ...(ahead && current === "draft" ? yield* withPublishAt(post, status) : post),
            ...(status === undefined || ahead || isPassed(status, current) ? {} : { status })
          }
          yield* client.posts.update({ params: { uuid }, payload })
          if (ahead) yield* move(uuid, current, status)
        })
    }
  }
} satisfies Resource<typeof record.Type, typeof create.Type>
