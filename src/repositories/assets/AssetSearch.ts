import { hash } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Asset } from "../../domain/assets/Asset.ts"
import type { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import type { InvalidFilterError } from "../../domain/query/Filter.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { AssetCategories } from "./AssetCategories.ts"
import { metaTagsSql } from "./AssetMetaTags.ts"
import { Assets } from "./Assets.ts"
import { collation } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import type { Scope, Source, View } from "../../sql/View.ts"
import { MetaTags } from "./MetaTags.ts"
import { traced } from "../../sql/Traced.ts"

/** What a search asks for, as the query decodes it. */
export type SearchRequest = ListRequest & {
  readonly locale?: string | undefined
  readonly search?: string | undefined
  readonly category?: ReadonlyArray<string> | undefined
}

/** Only words can be searched for; a text without letters and digits matches no asset. */
const hasWords = (search: string) => /[\p{L}\p{N}]/u.test(search)

/**
 * Finds assets by words. Each asset has one document of all its translations, and one for each language when there are
 * several; a search in a language uses that one, or the common one for assets without a translation in it.
 */
export class AssetSearch extends Context.Service<
  AssetSearch,
  {
    search(
      request: SearchRequest
    ): Effect.Effect<EncodedPage<Asset>, InvalidAssetCategoriesError | InvalidFilterError | InvalidLocaleError>
    /** The definitions of meta tags, or those that apply to categories. */
    metaTags(
      request: Pick<SearchRequest, "category" | "locale">
    ): Effect.Effect<Encoded<ReadonlyArray<MetaTagDefinition>>, InvalidAssetCategoriesError | InvalidLocaleError>
  }
>()("waypost/repositories/assets/AssetSearch") {
  static readonly layer = Layer.effect(
    AssetSearch,
    Effect.gen(function* () {
      const assets = yield* Assets
      const categories = yield* AssetCategories
      const definitions = yield* MetaTags
      const locales = yield* Locales

      const metaTags = Effect.fnUntraced(function* ({ category, locale }: Pick<SearchRequest, "category" | "locale">) {
        return yield* definitions.all({
          locale: locale === undefined ? undefined : yield* locales.check(locale),
          categories: category === undefined ? undefined : yield* categories.resolve(category)
        })
      })

      /** The assets in categories and everything below them. */
      const scopeOf = Effect.fnUntraced(function* (references: ReadonlyArray<string>) {
        const asked = yield* categories.resolve(references)
        return inCategories(asked, yield* categories.withDescendants(asked))
      })

      const search = Effect.fnUntraced(function* (request: SearchRequest) {
        const locale = request.locale === undefined ? undefined : yield* locales.check(request.locale)
        const scope = request.category === undefined ? undefined : yield* scopeOf(request.category)
        const words = request.search?.normalize("NFC").trim() ?? ""
        const isSearch = words !== ""
        const sortBy = request.sortBy ?? (isSearch ? "relevance" : undefined)
        // Without words nothing is more relevant than something else: the newest come first, on numbered pages.
        const isUnranked = sortBy === "relevance" && !isSearch && request.after === undefined
        const listed = { ...request, sortBy: isUnranked ? undefined : sortBy }
        const view = viewOf(locale, scope)
        if (!isSearch) return yield* assets.list(listed, view)
        const sought = hasWords(words) ? words : ""
        const language = locale ?? locales.defaultLocale
        const exact = documents("exact", locale, exactly(sought, language))
        const similar = documents("similar", locale, nearly(sought, language))
        const matching = (source: Source, page: ListRequest = listed) =>
          assets.list(page, { ...view, source, fallback: similar })
        const found = yield* matching(exact)
        const { after, page: _, ...first } = listed
        const { total } = found.pagination
        // A cursor goes on with the words of its own page, whichever others match by now.
        const isContinued = after !== undefined && after !== ""
        if (sought === "" || isContinued || found.data !== "[]" || (total ?? 0) > 0) return found
        // An empty numbered page that is not counted may be the end of a list.
        const isEnd =
          after === undefined &&
          total === undefined &&
          (yield* matching(exact, { ...first, limit: 1, total: false })).data !== "[]"
        return isEnd ? found : yield* matching(similar)
      })

      return traced(AssetSearch, { search, metaTags })
    })
  )
}

/** The documents in which a search looks: `document`, one for each asset. */
const documents = (name: string, locale: string | undefined, query: Fragment): Source => {
  const language = sql`${locale?.split("-")[0] ?? ""}::text`
  return {
    name,
    // Kept apart, so that the words are read once and not for every document. A whole word ranks above a beginning.
    from: sql`(
        select query, replace(query::text, ':*', '')::tsquery as words
        from (select ${query} as query offset 0) asked offset 0
      ) wanted join asset_texts document on document.document @@ wanted.query
        and (document.language = ${language} or (document.language = '' and not document.separate @> array[${language}]))`,
    uuid: sql`document.asset_uuid`
  }
}

/** Every word as written or as its language reduces it, the last one unfinished. */
const exactly = (words: string, locale: string) =>
  sql`waypost_asset_query(${words}::text, waypost_configuration(${locale}::text))`

/** Every word, or those that differ least from it. */
const nearly = (words: string, locale: string) =>
  sql`waypost_similar_asset_query(${words}::text, waypost_configuration(${locale}::text))`

const relevance = sql`ts_rank(document.document, wanted.words) + ts_rank(document.document, wanted.query) / 10`

/** The name that `waypost_translations_for` puts first, without putting the others in order: a list asks every row. */
const nameIn = (locale: string) => {
  const language = locale.split("-")[0]
  const wanted = sql`${JSON.stringify({ locale, language, variants: `${language}-` })}::jsonb`
  const exact = sql`jsonb_path_query_first(t.translations, '$[*] ? (@.locale == $locale).name', ${wanted})`
  const related = sql`jsonb_path_query_first(t.translations,
    '$[*] ? (@.locale == $language || @.locale starts with $variants).name', ${wanted})`
  return sql`(coalesce(${exact}, ${related}, t.translations->0->'name') #>> '{}')`
}

const viewOf = (locale: string | undefined, scope: Scope | undefined): View => ({
  order: (sortBy) => {
    if (sortBy === "relevance") return { key: relevance }
    if (sortBy !== "name") return undefined
    return { key: sql`${locale === undefined ? sql`t.name` : nameIn(locale)} ${collation}` }
  },
  members:
    locale === undefined
      ? undefined
      : {
          translations: sql`waypost_translations_for(t.translations, ${locale}::text)`,
          metaTags: metaTagsSql(sql`t.uuid`, locale)
        },
  scope
})

/** The assets that are in some of the categories, which are those asked for and everything below them. */
const inCategories = (asked: ReadonlyArray<string>, uuids: ReadonlyArray<string>): Scope => {
  const links = sql`asset_category_links l where l.category_uuid = any (${uuids}::uuid[])`
  return {
    // A cursor goes on when a category below them is added or removed.
    name: hash("sha256", asked.toSorted().join(" ")),
    where: (uuid) => sql`exists (select from ${links} and l.asset_uuid = ${uuid})`,
    total: sql`select count(*)::int from (select distinct l.asset_uuid from ${links}) members`,
    found: sql`true`
  }
}
