import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { Locales } from "../../domain/schema/Locale.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { maxBodies, maxBody, type PartialPost, statusMoves } from "../../domain/posts/Post.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { sanitise } from "./ArticleHtml.ts"
import { lockAssets } from "../assets/FileLocks.ts"
import type { Memberships } from "../people/Memberships.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"

/** The assets that a post names. */
export const assetsOf = ({ coverAssetUuid, mediaAssetUuids }: PartialPost): ReadonlyArray<string> => [
  ...(coverAssetUuid ? [coverAssetUuid] : []),
  ...(mediaAssetUuids ?? [])
]

/** Fails with the references of a post that do not exist. */
export const knownReferences = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, memberships: Memberships["Service"], post: PartialPost) {
    const { audience, author } = post
    const uuids = (list: ReadonlyArray<{ readonly uuid: string }> | null | undefined) =>
      (list ?? []).map(({ uuid }) => uuid)
    const users = author ? [author.uuid] : []
    const groups = uuids(audience?.groups)
    const locations = uuids(audience?.locations)
    if (users.length > 0) yield* memberships.known("users", users)
    if (groups.length > 0) yield* memberships.known("groups", groups)
    if (locations.length > 0) yield* memberships.known("locations", locations)
    // Outside a transaction this only checks that they exist, before other rules; the write locks them again.
    yield* lockAssets(sql, assetsOf(post))
  },
  Effect.catchTag("SqlError", Effect.die)
)

/** Each takes a few microseconds and blocks the event loop. */
const maxTags = 10_000

const tagsIn = (html: string) => html.split("<").length - 1

/** The body of an article as it is stored. */
const storedBody = (body: string, locale: string): Effect.Effect<string, InvalidRequestError> => {
  const invalid = (code: string, problem: string) =>
    Effect.fail(InvalidRequestError.inBody("translations", code, `The body in ${locale} ${problem}`))
  if (tagsIn(body) > maxTags) return invalid("tooMany", `has more than ${maxTags} tags`)
  const sanitised = sanitise(body)
  if (Result.isFailure(sanitised)) return invalid("invalidFormat", "is not HTML that can be made safe")
  if (sanitised.success === "") return invalid("tooShort", "has nothing that belongs in an article")
  // Escaping entities and quotes can lengthen the text.
  return Array.from(sanitised.success).length > maxBody
    ? invalid("tooLong", `has more than ${maxBody} characters once its HTML is written out`)
    : Effect.succeed(sanitised.success)
}

const tooLong = InvalidRequestError.inBody(
  "translations",
  "tooLong",
  `The bodies have more than ${maxBodies} characters together once their HTML is written out`
)

/** The post as it is stored: with valid locales, safe HTML, and references by uuid alone. */
export const storedForm = Effect.fnUntraced(function* <P extends PartialPost>(locales: Locales["Service"], post: P) {
  const { author, translations } = post
  const valid = yield* checkLocales(locales, translations ?? [])
  const articles = yield* Effect.forEach(valid, (translation) =>
    translation.body === undefined
      ? Effect.succeed(translation)
      : storedBody(translation.body, translation.locale).pipe(
          Effect.map((body) => ({ ...translation, body })),
          // A long body takes milliseconds; other requests run in between.
          Effect.tap(Effect.yieldNow)
        )
  )
  if (articles.reduce((length, { body = "" }) => length + body.length, 0) > maxBodies) return yield* tooLong
  return {
    ...post,
    ...(translations === undefined ? {} : { translations: articles }),
    ...(author ? { author: { uuid: author.uuid } } : {})
  }
})

/** The errors of the rules that the table enforces. */
export const constraintErrors = byConstraint({
  posts_slug_key: () => InvalidRequestError.inBody("slug", "notUnique", "Another post already has this slug"),
  posts_status_move: () =>
    InvalidRequestError.inBody(
      "status",
      "forbiddenMove",
      `A new post is a draft or scheduled; status moves ${statusMoves}. To publish a draft now, schedule it with a publishAt that is not in the future`
    ),
  posts_call_to_action_complete: () =>
    InvalidRequestError.inBody("callToAction", "incomplete", "type and url must both be set or both be absent"),
  posts_scheduled_publish_at: () =>
    InvalidRequestError.inBody("publishAt", "required", "A scheduled post needs a publishAt"),
  posts_expire_after_publish: () =>
    InvalidRequestError.inBody("expireAt", "outOfRange", "expireAt must be later than publishAt")
})
