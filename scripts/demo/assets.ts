import { Console, Effect, FileSystem, Option, Stream } from "effect"
import * as LocalFiles from "../../src/cli/upload/LocalFiles.ts"
import * as Progress from "../../src/cli/Progress.ts"
import * as UploadAssets from "../../src/cli/upload/UploadAssets.ts"
import * as UploadJournal from "../../src/cli/upload/UploadJournal.ts"
import * as UploadReport from "../../src/cli/upload/UploadReport.ts"
import { Client } from "../../src/client/Client.ts"
import type { AssetCategoryId } from "../../src/domain/assets/AssetCategory.ts"
import type { AssetId } from "../../src/domain/assets/Asset.ts"
import type { MediaItemInput } from "../../src/domain/locations/LocationMedia.ts"
import { largest } from "./brand.ts"
import { categories, type Image, languages, metaTags, pictures, translations } from "./images.ts"
import { cropped, drawnLogos, originals, type Photo } from "./photos.ts"

/** How many locations show the logo and pictures. */
const decorated = 250

const everything = { limit: 500, page: 1, sortBy: "createdAt", sortOrder: "asc" } as const

const addCategories = Effect.gen(function* () {
  const { assetCategories } = yield* Client
  const { data } = yield* assetCategories.list({ query: everything })
  const known = new Map<string, AssetCategoryId>(data.map(({ key, uuid }) => [key, uuid]))
  for (const [position, { key, names, parent }] of categories.entries()) {
    if (known.has(key)) continue
    const above = parent === undefined ? undefined : known.get(parent)
    const payload = { key, position, translations: translations("name", names) }
    const { uuid } = yield* assetCategories.create({
      payload: above === undefined ? payload : { ...payload, parentUuid: above }
    })
    known.set(key, uuid)
  }
})

const addMetaTags = Effect.gen(function* () {
  const client = yield* Client
  const { data } = yield* client.metaTags.list({ query: everything })
  const known = new Set(data.map(({ key }) => key))
  for (const [position, definition] of metaTags.entries()) {
    if (!known.has(definition.key)) yield* client.metaTags.create({ payload: { ...definition, position } })
  }
})

const assetOf = ({ category, descriptions, focalPoint, metaTags, names }: Image): UploadAssets.Source["asset"] => ({
  categories: [category],
  ...(focalPoint === undefined ? {} : { focalPoint }),
  translations: languages.map((locale) => ({ locale, name: names[locale], description: descriptions[locale] })),
  metaTags: Object.entries(metaTags).map(([key, value]) => ({ key, value }))
})

/** Uploads images that are not there yet, and gives the assets of all of them. */
const upload = Effect.fnUntraced(function* (images: ReadonlyArray<Image>) {
  const { files } = yield* LocalFiles.find(images.map(({ path }) => path))
  const byPath = new Map(files.map((file) => [file.path, file]))
  const summary = UploadAssets.nothing()
  const uploadAll = yield* UploadAssets.uploadAll({
    concurrency: 8,
    force: false,
    journal: UploadJournal.none,
    summary
  })
  const sources = images.map((image) => ({
    image,
    file: { ...byPath.get(image.path)!, name: image.fileName },
    asset: assetOf(image)
  }))
  const { seconds, value } = yield* Stream.runCollect(uploadAll(sources)).pipe(
    Progress.show(() => ({
      unit: "bytes",
      done: summary.sent,
      fraction: summary.sent / (summary.sent + summary.left)
    })),
    Progress.timed
  )
  yield* Console.log(UploadReport.report({ ...summary, skipped: 0 }, seconds))
  const assets = new Map<string, AssetId>()
  for (const [source, result] of value) {
    if (result.outcome !== "refused") assets.set(source.file.path, result.asset)
    else yield* Console.log(`  refused ${source.file.name}: ${JSON.stringify(result.reasons)}`)
  }
  return assets
})

const locationOf = Effect.fnUntraced(function* (identifier: string) {
  const { locations } = yield* Client
  const filter = [{ field: "identifier", operator: "equals", value: identifier }] as const
  const { data } = yield* locations.list({ query: { ...everything, limit: 1, filter } })
  return Option.fromUndefinedOr(data[0])
})

/** Gives a location the logo and some of the pictures, each a slightly different choice. */
const decorate = Effect.fnUntraced(function* (
  [index, identifier]: readonly [number, string],
  logo: AssetId,
  media: ReadonlyArray<MediaItemInput>
) {
  const { locations } = yield* Client
  const location = yield* locationOf(identifier)
  if (Option.isNone(location)) return
  const items = media.filter((_, item) => (item + index) % 3 !== 0)
  const params = { uuid: location.value.uuid }
  yield* locations.updateMedia({ params, payload: { logo: { assetUuid: logo }, items } })
})

/** The pictures of a location, and what is said below them. */
const mediaOf = (photos: ReadonlyArray<Photo>, assets: ReadonlyMap<string, AssetId>) =>
  photos.flatMap(({ names, path, role }): ReadonlyArray<MediaItemInput> => {
    const assetUuid = assets.get(path)
    const labels = languages.map((locale) => ({ key: "caption", locale, label: names[locale] }))
    return assetUuid === undefined ? [] : [{ assetUuid, role, labels }]
  })

/** The images of the demo with their categories and meta tags, and what the locations show of them. */
export const fillAssets = Effect.gen(function* () {
  const shops = largest(decorated)
  const last = yield* locationOf(shops.at(-1)!)
  if (Option.exists(last, ({ media }) => media.items.length > 0)) return

  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-demo-" })
  const photos = originals()
  const crops = yield* Effect.promise(() => cropped(folder))
  const logos = yield* Effect.promise(() => drawnLogos(folder))
  yield* addCategories
  yield* addMetaTags
  const assets = yield* upload([...logos, ...photos, ...crops, ...pictures()])
  const logo = assets.get(logos[0]!.path)
  if (logo === undefined) return
  const media = mediaOf(photos, assets)
  const { seconds } = yield* Progress.timed(
    Effect.forEach(shops.entries(), (shop) => decorate(shop, logo, media), { concurrency: 8, discard: true })
  )
  yield* Console.log(`media: the ${decorated} largest locations have a logo and pictures (${seconds.toFixed(1)} s)`)
}).pipe(Effect.scoped)
