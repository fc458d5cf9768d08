import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { Audience, AudienceWrite } from "../people/Audience.ts"
import { distinct } from "../schema/Distinct.ts"
import { text, Timestamp, Uuid, WebUrl } from "../schema/Fields.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"
import { Slug } from "../schema/Slug.ts"
import { sentText, translations } from "../schema/Translations.ts"
import { UserId } from "../people/UserId.ts"
import { defaulted, ignored, readOnly, references, required, writtenAs } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

export const PostId = Uuid.pipe(Schema.brand("PostId"))
export type PostId = typeof PostId.Type

/** How long a body may be, before and after it is sanitised. */
export const maxBody = 200_000

/** How long the bodies of a post may be together after they are sanitised, which can lengthen each several times. */
export const maxBodies = 10 * maxBody

const title = text(255).pipe(Schema.annotateEncoded({ examples: ["Spring campaign"], description: "Plain text." }))
const excerpt = text(500, { multiline: true }).pipe(Schema.annotateEncoded({ description: "Plain text." }))
const body = text(maxBody, { multiline: true }).pipe(
  Schema.annotateEncoded({
    examples: ["<p>From the first of March …</p>"],
    description: `HTML of an article. What does not belong in one (scripts, styles, event handlers, foreign schemes) is taken out when it is written. The bodies of a post have at most ${maxBodies.toLocaleString("en")} characters together as they are stored.`
  })
)

// So that a post always has a title.
const atLeast = { min: 1 }

const Translations = translations(
  { title, excerpt: Schema.optionalKey(excerpt), body: Schema.optionalKey(body) },
  atLeast
)
const SentTranslations = translations({ title, excerpt: sentText(excerpt), body: sentText(body) }, atLeast)

/** The author as it is written: a user, whose name is the user's own affair. */
const author = Schema.optionalKey(
  Schema.NullOr(
    Schema.Struct({
      uuid: UserId.pipe(references("users")),
      name: ignored(Schema.String)
    })
  )
)

/** How the status of a post changes, as part of a sentence. */
export const statusMoves =
  "from draft to scheduled and back, from scheduled to published, and from published to archived"

/** An article for the people of the brand, or a part of it. */
export const Post = Schema.Struct({
  uuid: readOnly(PostId),
  slug: defaulted(Slug.annotate({ description: "Unique among posts; made of the title unless it is given." })),
  type: Schema.Literals(["news", "announcement", "social", "page"]),
  status: defaulted(
    Schema.Literals(["draft", "scheduled", "published", "archived"]).annotate({
      description: `Moves ${statusMoves}. A scheduled post is published at \`publishAt\`; to publish one now, schedule it for now.`
    })
  ),
  translations: required(Translations),
  author: Schema.optionalKey(
    Schema.Struct({
      uuid: UserId.pipe(references("users")),
      name: Schema.String.annotate({ description: "First and last name, or the username of who has none." })
    })
  ).pipe(writtenAs(author)),
  coverAssetUuid: Schema.optionalKey(Uuid).pipe(references("assets")),
  mediaAssetUuids: distinct(Uuid, 50, "assets").pipe(references("assets")),
  categories: distinct(text(64), 50, "categories"),
  tags: distinct(text(50), 100, "tags"),
  audience: Audience.pipe(writtenAs(Schema.optionalKey(AudienceWrite))),
  callToAction: Schema.optionalKey(
    Schema.Struct({
      type: Schema.Literals(["learnMore", "order", "book", "call", "signUp", "shop"]),
      url: WebUrl
    })
  ),
  pinned: defaulted(Schema.Boolean),
  publishAt: Schema.optionalKey(Timestamp),
  expireAt: Schema.optionalKey(Timestamp.pipe(Schema.annotateEncoded({ examples: ["2026-02-28T22:59:59.000Z"] }))),
  publishedAt: Schema.optionalKey(readOnly(Timestamp)),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "Post" })
export type Post = typeof Post.Type

export const PostCreate = Schema.Struct({ ...Shape.create(Post).fields, translations: SentTranslations }).annotate({
  identifier: "PostCreate"
})
export type PostCreate = typeof PostCreate.Type

/** What changes a post: `translations` is the whole new list. */
export const PartialPost = Schema.Struct({
  ...Shape.patch(Post).fields,
  translations: Schema.optionalKey(SentTranslations)
}).annotate({ identifier: "PartialPost" })
export type PartialPost = typeof PartialPost.Type

export class PostNotFoundError extends ApiError<PostNotFoundError>()(...notFoundError("PostNotFoundError")) {
  static of = (uuid: string) => new PostNotFoundError(notFound("post", uuid))
}

/** The fields a list of posts can be sorted by; `title` is that of the default locale, or else of the first. */
export const sortable = ["title", "status", "publishAt", "createdAt", "editedAt"] as const
