import { Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import type { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { noAudience } from "../../domain/people/Audience.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { GroupNotFoundError } from "../../domain/people/Group.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { PartialPost, Post, PostCreate, type PostId, PostNotFoundError } from "../../domain/posts/Post.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { slugOf } from "../../domain/schema/Slug.ts"
import type { UserNotFoundError } from "../../domain/people/User.ts"
import { Parameters } from "../../sql/Parameters.ts"
import { lockAssets } from "../assets/FileLocks.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import { Memberships } from "../people/Memberships.ts"
import { type PostView, viewOf } from "./PostColumns.ts"
import { assetsOf, knownReferences, refusals, storedForm } from "./PostRules.ts"
import { collation, jsonOf, shownOf } from "../../sql/Columns.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/SqlErrors.ts"

type Refused =
  | InvalidLocaleError
  | InvalidRequestError
  | UserNotFoundError
  | GroupNotFoundError
  | LocationNotFoundError
  | AssetNotFoundError

/** A post as it is read, and the locale of its translation when one was asked for. */
export interface ReadPost {
  readonly json: Encoded<Post>
  readonly language: string | undefined
}

/** The posts, in PostgreSQL. The locale of a view may be as a client wrote it. */
export class Posts extends Context.Service<
  Posts,
  {
    get(uuid: PostId, view: PostView): Effect.Effect<ReadPost, PostNotFoundError | InvalidLocaleError>
    list(request: ListRequest, view: PostView): Effect.Effect<EncodedPage<Post>, InvalidLocaleError>
    create(post: PostCreate): Effect.Effect<PostId, Refused>
    /** `view` is how the client reads the post, which is what the precondition is compared with. */
    update(
      uuid: PostId,
      patch: PartialPost,
      view: PostView,
      precondition: Precondition
    ): Effect.Effect<PostId, PostNotFoundError | Refused>
    delete(uuid: PostId, view: PostView, precondition: Precondition): Effect.Effect<PostId, PostNotFoundError>
  }
>()("waypost/repositories/posts/Posts") {
  static readonly layer = Layer.effect(
    Posts,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pipelined, pooled } = yield* Sql
      const records = yield* Records.make({
        table: "posts",
        record: Post,
        create: PostCreate,
        patch: PartialPost
      })
      const seen = (view: PostView) => viewOf(view, locales.defaultLanguage)

      const located = Effect.fnUntraced(function* (view: PostView) {
        return view.locale === undefined ? view : { ...view, locale: yield* locales.check(view.locale) }
      })

      const get = Effect.fnUntraced(function* (uuid: PostId, view: PostView) {
        const parameters = new Parameters()
        const id = parameters.add(uuid, "uuid")
        const { columns, members } = seen(yield* located(view))
        const shown = members(parameters)
        const translations = shown["translations"] ?? "t.translations"
        const rows = yield* Effect.orDie(
          pipelined.unsafe<{ readonly json: Encoded<Post>; readonly language: string }>(
            `select ${jsonOf(shownOf(columns, shown))} as json, ${translations}->0->>'locale' as language from posts t where t.uuid = ${id}`,
            parameters.values
          )
        )
        const { json, language } = yield* Effect.fromOption(Option.fromUndefinedOr(rows[0]), () =>
          PostNotFoundError.of(uuid)
        )
        return { json, language: view.locale === undefined ? undefined : language }
      })

      const list = Effect.fnUntraced(function* (request: ListRequest, view: PostView) {
        return yield* records.list(request, seen(yield* located(view)))
      })

      /** The title in the default language, else the first. */
      const titleOf = ({ translations }: PostCreate) =>
        (translations.find(({ locale }) => locale.split("-")[0] === locales.defaultLanguage) ?? translations[0])?.title

      const freeSlug = Effect.fnUntraced(function* (base: string, attempt: number) {
        const random = `${base}-${SecureRandom.uuidV7Unsafe().slice(-8)}`
        if (attempt >= orderlyAttempts) return random
        const [row] = yield* pooled.unsafe<{ readonly slug: string }>(
          `select wanted as slug from unnest($1::text[]) with ordinality candidates (wanted, position)
            where not exists (select from posts where slug ${collation} = wanted) order by position limit 1`,
          [[base, ...Array.from({ length: 98 }, (_, index) => `${base}-${index + 2}`), random]]
        )
        return row?.slug ?? random
      })

      /** A write of a post, during which none of the assets that it names is deleted. */
      const holding = <A>(post: PartialPost, write: Effect.Effect<A, SqlError.SqlError>) => {
        const assets = assetsOf(post)
        return assets.length === 0
          ? refusals(write)
          : transaction(pooled, Effect.andThen(lockAssets(pooled, assets), refusals(write)))
      }

      const insert = (post: PostCreate) =>
        holding(
          post,
          Effect.map(records.insert(post), ({ uuid }) => uuid)
        )

      /** Who makes a post with the same title at the same moment may take the slug first; then the next one is tried. */
      const insertWithFreeSlug = (
        post: PostCreate,
        base: string,
        attempt: number
      ): Effect.Effect<string, InvalidRequestError | AssetNotFoundError> =>
        Effect.orDie(freeSlug(base, attempt)).pipe(
          Effect.flatMap((slug) => insert({ ...post, slug })),
          Effect.catchIf(
            (error) =>
              attempt < orderlyAttempts && error._tag === "InvalidRequestError" && error.issues[0]?.path === "slug",
            () => insertWithFreeSlug(post, base, attempt + 1)
          )
        )

      const create = Effect.fnUntraced(function* (post: PostCreate) {
        yield* knownReferences(pooled, memberships, post)
        const stored = yield* storedForm(locales, post)
        const complete = {
          status: "draft" as const,
          pinned: false,
          ...stored,
          audience: { ...noAudience, ...stored.audience }
        }
        const uuid =
          post.slug === undefined
            ? yield* insertWithFreeSlug(complete, slugOf(titleOf(post) ?? "") ?? "post", 1)
            : yield* insert(complete)
        return uuid as PostId
      })

      const update = Effect.fnUntraced(function* (
        uuid: PostId,
        patch: PartialPost,
        view: PostView,
        precondition: Precondition
      ) {
        const { audience, author, coverAssetUuid, mediaAssetUuids, translations } = patch
        const isChecked = [audience, author, coverAssetUuid, mediaAssetUuids, translations].some(Boolean)
        // A post that does not exist, or has changed, is told before anything that is wrong with the request.
        if (isChecked && !(yield* records.checkPrecondition(uuid, precondition, seen(view))))
          return yield* PostNotFoundError.of(uuid)
        yield* knownReferences(pooled, memberships, patch)
        const stored = yield* storedForm(locales, patch)
        const { found } = yield* holding(patch, records.patch(uuid, stored, precondition, seen(view)))
        return found ? uuid : yield* PostNotFoundError.of(uuid)
      })

      const remove = Effect.fnUntraced(function* (uuid: PostId, view: PostView, precondition: Precondition) {
        const found = yield* Effect.orDie(records.remove(uuid, precondition, seen(view)))
        return found ? uuid : yield* PostNotFoundError.of(uuid)
      })

      return Posts.of({ get, list, create, update, delete: remove })
    })
  )
}

/** So often a slug with a small number is looked for, before a random one is taken. */
const orderlyAttempts = 4
