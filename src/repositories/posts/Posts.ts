import { Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import type { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { noAudience } from "../../domain/people/Audience.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { type PartialPost, Post, type PostCreate, type PostId, PostNotFoundError } from "../../domain/posts/Post.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Written } from "../../domain/write/Written.ts"
import { slugOf } from "../../domain/schema/Slug.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import type { Answer } from "../access/Audiences.ts"
import { lockAssets } from "../assets/FileLocks.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import { Memberships } from "../people/Memberships.ts"
import { jsonIn, type PostView, viewOf } from "./PostColumns.ts"
import { assetsOf, knownReferences, constraintErrors, storedForm } from "./PostRules.ts"
import { collation } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { leave, whereOf } from "../../sql/batch/Batch.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { transaction } from "../../sql/Transactions.ts"

type Rejected =
  | InvalidLocaleError
  | InvalidRequestError
  | UserNotFoundError
  | GroupNotFoundError
  | LocationNotFoundError
  | AssetNotFoundError

/** A post, and the locale of its translation when the request names one. */
export interface ReadPost {
  readonly json: Encoded<Post>
  readonly language: string | undefined
}

type WrittenPost = Written<"posts", PostId>

/** The posts, in PostgreSQL. The locale of a view may be as a client wrote it. */
export class Posts extends Context.Service<
  Posts,
  {
    get(uuid: PostId, view: PostView): Effect.Effect<ReadPost, PostNotFoundError | InvalidLocaleError>
    list(request: ListRequest, view: PostView): Effect.Effect<EncodedPage<Post>, InvalidLocaleError>
    /** A page of the posts that are the answer to a question of access, if its record exists. */
    listWithin(
      answer: Answer,
      request: ListRequest,
      view: PostView
    ): Effect.Effect<Option.Option<EncodedPage<Post>>, InvalidLocaleError>
    create(post: PostCreate): Effect.Effect<WrittenPost, Rejected>
    /** `view` is how the client reads the post, which is what the precondition is compared with. */
    update(
      uuid: PostId,
      patch: PartialPost,
      view: PostView,
      precondition: Precondition
    ): Effect.Effect<WrittenPost, PostNotFoundError | Rejected>
    delete(uuid: PostId, view: PostView, precondition: Precondition): Effect.Effect<WrittenPost, PostNotFoundError>
    readonly bulk: Batch
    /** The bulk writes of a request whose filters find what it sees of posts. */
    bulkSeen(view: PostView): Batch
  }
>()("waypost/repositories/posts/Posts") {
  static readonly layer = Layer.effect(
    Posts,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const records = yield* Records.make({
        kind: "posts",
        table: "posts",
        record: Post,
        notFound: PostNotFoundError
      })
      const seen = (view: PostView) => viewOf(view, locales.defaultLanguage)

      const located = Effect.fnUntraced(function* (view: PostView) {
        return view.locale === undefined ? view : { ...view, locale: yield* locales.check(view.locale) }
      })

      const get = Effect.fnUntraced(function* (uuid: PostId, view: PostView) {
        const postView = seen(yield* located(view))
        const rows = yield* Effect.orDie(
          pooled<{ readonly json: Encoded<Post>; readonly language: string }>`
            select ${jsonIn(postView, view.fields)} as json, ${postView.members.translations}->0->>'locale' as language
            from posts t where t.uuid = ${uuid}::uuid`
        )
        const { json, language } = yield* Effect.fromOption(Option.fromUndefinedOr(rows[0]), () =>
          PostNotFoundError.of(uuid)
        )
        return { json, language: view.locale === undefined ? undefined : language }
      })

      const list = Effect.fnUntraced(function* (request: ListRequest, view: PostView) {
        return yield* records.list(request, seen(yield* located(view)))
      })

      const listWithin = Effect.fnUntraced(function* (answer: Answer, request: ListRequest, view: PostView) {
        const { scope, source } = answer
        return yield* records.listWithin(scope, request, { ...seen(yield* located(view)), source })
      })

      /** The title in the default locale, else in its language, else the first. */
      const titleOf = ({ translations }: PostCreate) => {
        const { defaultLanguage, defaultLocale } = locales
        const titled =
          translations.find(({ locale }) => locale === defaultLocale) ??
          translations.find(({ locale }) => locale.split("-")[0] === defaultLanguage) ??
          translations[0]
        return titled?.title
      }

      const freeSlug = Effect.fnUntraced(function* (base: string, attempt: number) {
        const random = `${base}-${SecureRandom.uuidV7Unsafe().slice(-8)}`
        if (attempt >= numberedAttempts) return random
        const numbered = Array.from({ length: 98 }, (_, index) => `${base}-${index + 2}`)
        const [row] = yield* pooled<{ readonly slug: string }>`
          select wanted as slug from unnest(${[base, ...numbered, random]}::text[]) with ordinality candidates (wanted, position)
            where not exists (select from posts where slug ${collation} = wanted) order by position limit 1`
        return row?.slug ?? random
      })

      /** A write of a post, with the assets that it names locked against deletion. */
      const holding = <A, E>(post: PartialPost, write: Effect.Effect<A, E | SqlError.SqlError>) => {
        const assets = assetsOf(post)
        return assets.length === 0
          ? constraintErrors(write)
          : transaction(pooled, Effect.andThen(lockAssets(pooled, assets), constraintErrors(write)))
      }

      const insert = (post: PostCreate) => holding(post, records.insert(post))

      /** A concurrent creation with the same title can take the slug first; then the next one is tried, also within a transaction. */
      const insertWithFreeSlug = (
        post: PostCreate,
        base: string,
        attempt: number
      ): Effect.Effect<WrittenPost, InvalidRequestError | AssetNotFoundError> =>
        Effect.orDie(freeSlug(base, attempt)).pipe(
          Effect.flatMap((slug) => transaction(pooled, insert({ ...post, slug }))),
          Effect.catchIf(
            (error) =>
              attempt < numberedAttempts && error._tag === "InvalidRequestError" && error.issues[0]?.path === "slug",
            () => insertWithFreeSlug(post, base, attempt + 1)
          )
        )

      const bulk = records.batch({
        key: { member: "slug", compared: (slug) => sql`${slug} ${collation}` },
        create: (post: PostCreate) =>
          post.slug === undefined || hasReferences(post) ? leave : Effect.map(storedForm(locales, post), withDefaults),
        update: (patch: PartialPost) => (hasReferences(patch) ? leave : storedForm(locales, patch)),
        deletes: true
      })

      return traced(Posts, {
        bulk,
        bulkSeen: (view) => ({
          ...bulk,
          comparison: bulk.comparison && { ...bulk.comparison, where: whereOf(seen(view).columns) }
        }),
        get,
        list,
        listWithin,
        create: Effect.fnUntraced(function* (post) {
          yield* knownReferences(pooled, memberships, post)
          const stored = yield* storedForm(locales, post)
          return yield* post.slug === undefined
            ? insertWithFreeSlug(withDefaults(stored), slugOf(titleOf(post) ?? "") ?? "post", 1)
            : insert(withDefaults(stored))
        }),
        update: Effect.fnUntraced(function* (uuid, patch, view, precondition) {
          const isChecked = hasReferences(patch) || Boolean(patch.translations)
          // A post that does not exist, or has changed, is reported before a rule that the request breaks.
          if (isChecked) yield* records.checkPrecondition(uuid, precondition, seen(view))
          yield* knownReferences(pooled, memberships, patch)
          const stored = yield* storedForm(locales, patch)
          return yield* holding(patch, records.patch(uuid, stored, precondition, seen(view)))
        }),
        delete: (uuid, view, precondition) =>
          records.remove(uuid, precondition, seen(view)).pipe(Effect.catchTag("SqlError", Effect.die))
      })
    })
  )
}

/** Whether a post names records that must exist. */
const hasReferences = ({ audience, author, coverAssetUuid, mediaAssetUuids }: PartialPost) =>
  [audience, author, coverAssetUuid, mediaAssetUuids].some(Boolean)

const withDefaults = (post: PostCreate) => ({
  status: "draft" as const,
  pinned: false,
  ...post,
  audience: { ...noAudience, ...post.audience }
})

/** Attempts with a small number as suffix, before a random one is taken. */
const numberedAttempts = 4
