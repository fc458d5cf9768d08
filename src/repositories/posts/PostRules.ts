import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { Locales } from "../../domain/schema/Locale.ts"
import { checkLocales } from "../../domain/schema/Translations.ts"
import { maxBody, type PartialPost } from "../../domain/posts/Post.ts"
import { InvalidRequestError, type Issue } from "../../domain/write/RequestErrors.ts"
import { sanitise } from "./ArticleHtml.ts"
import { lockAssets } from "../assets/FileLocks.ts"
import type { Memberships } from "../people/Memberships.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"

/** The assets that a post names. */
export const assetsOf = ({ coverAssetUuid, mediaAssetUuids }: PartialPost): ReadonlyArray<string> => [
  ...(coverAssetUuid ? [coverAssetUuid] : []),
  ...(mediaAssetUuids ?? [])
]

/** Fails with what a post names and does not exist. */
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
    yield* lockAssets(sql, assetsOf(post))
  },
  Effect.catchTag("SqlError", Effect.die)
)

const refuse = (path: string, code: string, message: string): InvalidRequestError =>
  InvalidRequestError.of([{ in: "body", path, code, message } satisfies Issue])

/** Each costs some microseconds, in which nobody else is answered. */
const maxTags = 10_000

const tagsIn = (html: string) => html.split("<").length - 1

/** The body of an article as it is stored. */
const storedBody = (body: string, locale: string): Effect.Effect<string, InvalidRequestError> => {
  const told = (code: string, problem: string) =>
    Effect.fail(refuse("translations", code, `The body in ${locale} ${problem}`))
  if (tagsIn(body) > maxTags) return told("tooMany", `has more than ${maxTags} tags`)
  const sanitised = sanitise(body)
  if (Result.isFailure(sanitised)) return told("invalidFormat", "is not HTML that can be made safe")
  if (sanitised.success === "") return told("tooShort", "has nothing that belongs in an article")
  // Entities and quotes are written out, so the text can have grown.
  return Array.from(sanitised.success).length > maxBody
    ? told("tooLong", `has more than ${maxBody} characters once its HTML is written out`)
    : Effect.succeed(sanitised.success)
}

/** The post as it is stored: with valid locales, safe HTML, and references by uuid alone. */
export const storedForm = Effect.fnUntraced(function* <P extends PartialPost>(locales: Locales["Service"], post: P) {
  const { author, translations } = post
  const valid = yield* checkLocales(locales, translations ?? [])
  const articles = yield* Effect.forEach(valid, (translation) =>
    translation.body === undefined
      ? Effect.succeed(translation)
      : storedBody(translation.body, translation.locale).pipe(
          Effect.map((body) => ({ ...translation, body })),
          // Long bodies take a moment each; others get their turn in between.
          Effect.tap(Effect.yieldNow)
        )
  )
  return {
    ...post,
    ...(translations === undefined ? {} : { translations: articles }),
    ...(author ? { author: { uuid: author.uuid } } : {})
  }
})

/** The rules that the tables hold. */
export const refusals = byConstraint({
  posts_slug_key: () => refuse("slug", "notUnique", "Another post already has this slug"),
  posts_status_move: () =>
    refuse(
      "status",
      "forbiddenMove",
      "A new post is a draft or scheduled; status moves from draft to scheduled and back, and from scheduled by published to archived. To publish a draft now, schedule it with a publishAt that is not in the future"
    ),
  posts_call_to_action_complete: () =>
    refuse("callToAction", "incomplete", "type and url must both be set or both be absent"),
  posts_scheduled_publish_at: () => refuse("publishAt", "required", "A scheduled post needs a publishAt"),
  posts_expire_after_publish: () => refuse("expireAt", "outOfRange", "expireAt must be later than publishAt")
})
