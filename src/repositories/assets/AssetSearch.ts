import { Context, Effect, Layer } from "effect"
import type { Asset } from "../../domain/assets/Asset.ts"
import type { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import type { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { AssetCategories } from "./AssetCategories.ts"
import { Assets } from "./Assets.ts"
import type { Parameters } from "../../sql/Parameters.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import type { Scope, View } from "../../sql/ListSql.ts"
import { MetaTags } from "./MetaTags.ts"

/** What a search asks for, as the query decodes it. */
export type SearchRequest = ListRequest & {
  readonly locale?: string | undefined
  readonly search?: string | undefined
  readonly category?: ReadonlyArray<string> | undefined
}

/** Only words can be searched for; a text of signs alone finds nothing. */
const hasWords = (search: string) => /[\p{L}\p{N}]/u.test(search)

/**
 * Finds assets by words. Each asset has one document of all its translations, and one for each language when there are
 * several; a search in a language looks into that one, and into the other where the asset is not told in it.
 */
export class AssetSearch extends Context.Service<
  AssetSearch,
  {
    search(request: SearchRequest): Effect.Effect<EncodedPage<Asset>, InvalidAssetCategoriesError | InvalidLocaleError>
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

      const metaTags = Effect.fn("AssetSearch.metaTags")(function* ({
        category,
        locale
      }: Pick<SearchRequest, "category" | "locale">) {
        return yield* definitions.all({
          locale: locale === undefined ? undefined : yield* locales.check(locale),
          categories: category === undefined ? undefined : yield* categories.resolve(category)
        })
      })

      const search = Effect.fn("AssetSearch.search")(function* (request: SearchRequest) {
        const locale = request.locale === undefined ? undefined : yield* locales.check(request.locale)
        const within =
          request.category === undefined
            ? undefined
            : yield* Effect.flatMap(categories.resolve(request.category), (uuids) => categories.withDescendants(uuids))
        const words = request.search?.normalize("NFC").trim() ?? ""
        const isSearch = words !== ""
        const sortBy = request.sortBy ?? (isSearch ? "relevance" : undefined)
        // Without words nothing is more relevant than something else: the newest come first.
        const listed = { ...request, sortBy: sortBy === "relevance" && !isSearch ? undefined : sortBy }
        const view = (source: View["source"]): View => ({
          ...viewOf(locale, within),
          ...(source === undefined ? {} : { source })
        })
        if (!isSearch) return yield* assets.list(listed, view(undefined))
        const sought = hasWords(words) ? words : ""
        const language = locale ?? locales.defaultLocale
        const found = yield* assets.list(listed, view(documents(locale, exactly(sought, language))))
        if (found.pagination.total > 0 || sought === "") return found
        return yield* assets.list(listed, view(documents(locale, nearly(sought, language))))
      })

      return AssetSearch.of({ search, metaTags })
    })
  )
}

/** An expression of the words that are wanted; its values are added to the parameters. */
type Query = (parameters: Parameters) => string

/** The documents in which a search looks: `document`, one for each asset. */
const documents =
  (locale: string | undefined, query: Query): NonNullable<View["source"]> =>
  (parameters) => {
    const language = parameters.add(locale?.split("-")[0] ?? "", "text")
    // Kept apart, so that the words are read once and not for every document. A whole word ranks above a beginning.
    const from = `(
        select query, replace(query::text, ':*', '')::tsquery as words
        from (select ${query(parameters)} as query offset 0) asked offset 0
      ) wanted join asset_texts document on document.document @@ wanted.query
        and (document.language = ${language} or (document.language = '' and not document.separate @> array[${language}]))`
    return { from, uuid: "document.asset_uuid" }
  }

const asking =
  (question: string) =>
  (words: string, locale: string): Query =>
  (parameters) =>
    `${question}(${parameters.add(words, "text")}, waypost_configuration(${parameters.add(locale, "text")}))`

/** Every word as it is or as its language reduces it, the last one unfinished. */
const exactly = asking("waypost_asset_query")

/** Every word, or those that differ least from it. */
const nearly = asking("waypost_similar_asset_query")

const relevance = "ts_rank(document.document, wanted.words) + ts_rank(document.document, wanted.query) / 10"

/** The name that `waypost_translations_for` puts first, without putting the others in order: a list asks every row. */
const nameIn = (locale: string, parameters: Parameters) => {
  const language = locale.split("-")[0]
  const wanted = parameters.add(JSON.stringify({ locale, language, variants: `${language}-` }), "jsonb")
  const named = (condition: string) => `jsonb_path_query_first(t.translations, '$[*] ? (${condition}).name', ${wanted})`
  const names = [named("@.locale == $locale"), named("@.locale == $language || @.locale starts with $variants")]
  return `(coalesce(${names.join(", ")}, t.translations->0->'name') #>> '{}')`
}

const viewOf = (locale: string | undefined, within: ReadonlyArray<string> | undefined): View => ({
  key: (sortBy, parameters) => {
    if (sortBy === "relevance") return relevance
    if (sortBy !== "name") return undefined
    return `${locale === undefined ? "t.name" : nameIn(locale, parameters)} collate "und-x-icu"`
  },
  ...(locale === undefined
    ? {}
    : {
        members: (parameters) => ({
          translations: `waypost_translations_for(t.translations, ${parameters.add(locale, "text")})`
        })
      }),
  ...(within === undefined ? {} : { scope: inCategories(within) })
})

/** The assets that are in some of the categories. */
const inCategories = (uuids: ReadonlyArray<string>): Scope => {
  const links = (parameters: Parameters) =>
    `asset_category_links l where l.category_uuid = any (${parameters.add(uuids, "uuid[]")})`
  return {
    name: uuids.toSorted().join(" "),
    where: (parameters, uuid) => `exists (select from ${links(parameters)} and l.asset_uuid = ${uuid})`,
    total: (parameters) => `select count(*)::int from (select distinct l.asset_uuid from ${links(parameters)}) members`,
    found: () => "true"
  }
}
