import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, fileRow, patchAsset, readAsset } from "../../support/requests/AssetRequests.ts"
import {
  activate,
  createProduct,
  createVariant,
  deleteModule,
  minimalSettings,
  readModule,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { send, unique } from "../../support/requests/Requests.ts"

const image = Effect.suspend(() => fileRow(`${unique("image")}.png`, 1, "image/png"))
const text = Effect.suspend(() => fileRow(`${unique("text")}.txt`))
const entry = (role: string, fileUuid: string, position?: number) => ({
  role,
  fileUuid,
  ...(position === undefined ? {} : { position })
})

/** The uuid of the file in a thumbnail URL. */
const shown = ({ thumbnailUrl }: { readonly thumbnailUrl?: string }) =>
  thumbnailUrl === undefined ? undefined : /\/files\/([^/]+)\/thumbnail_/.exec(thumbnailUrl)?.[1]

layer(TestServer.layer(), { excludeTestServices: true })("Thumbnails of products", (it) => {
  const of = (uuid: string) => Effect.map(readProduct(uuid), shown)

  it.effect("the thumbnail of a product is that of its first preview, or else of its first image", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [a, b, page] = [yield* image, yield* image, yield* text]
      assert.isUndefined(yield* of(uuid))
      for (const [files, expected] of [
        [[], undefined],
        [[entry("download", page)], undefined],
        [[entry("download", page), entry("print", a), entry("source", b)], a],
        [[entry("print", a, 2), entry("source", b, 1)], b],
        [[entry("print", a, 1), entry("source", b, 1)], a],
        [[entry("print", a, 0), entry("preview", page, 2), entry("preview", b, 3)], page],
        [[entry("print", a, 0), entry("preview", page, 2), entry("preview", b, 1)], b]
      ] as const) {
        yield* activate(uuid, "files", { files })
        assert.strictEqual(yield* of(uuid), expected)
        const [listedProduct] = (yield* send("GET", `/v1/products?filter=uuid:equals:${uuid}`)).body.data
        assert.strictEqual(shown(listedProduct), expected)
      }
      const { thumbnailUrl } = yield* readProduct(uuid)
      assert.strictEqual(thumbnailUrl, (yield* readModule(uuid, "files")).files[2].urls.thumbnail)
      yield* deleteModule(uuid, "files")
      assert.isUndefined(yield* of(uuid))
    })
  )

  it.effect("the thumbnail of a product follows the current file of an asset until the asset is deleted", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [first, second, last] = [yield* image, yield* image, yield* image]
      const asset = yield* createAsset({ fileUuid: first })
      const files = [{ assetUuid: asset, role: "preview" }, entry("download", last)]
      yield* activate(uuid, "files", { files })
      const { thumbnailUrl } = yield* readProduct(uuid)
      assert.strictEqual(thumbnailUrl, (yield* readAsset(asset)).urls.thumbnail)
      assert.strictEqual(yield* of(uuid), first)
      yield* patchAsset(asset, { fileUuid: second })
      assert.strictEqual(yield* of(uuid), second)
      yield* send("DELETE", `/v1/assets/${asset}?force=true`)
      assert.strictEqual(yield* of(uuid), last)
    })
  )

  it.effect(
    "the thumbnail of a variant is from its own files or else its parent's, also in the parent's variants module",
    () =>
      Effect.gen(function* () {
        const parent = yield* createProduct({ type: "variantParent" })
        const [inheriting, own, bare] = yield* Effect.forEach([1, 2, 3], (position) =>
          createVariant(parent, { position })
        )
        yield* activate(parent, "variants", minimalSettings["variants"])
        const listed = Effect.gen(function* () {
          const { variants } = yield* readModule(parent, "variants")
          const read = yield* Effect.forEach([inheriting!, own!, bare!], readProduct)
          assert.deepStrictEqual(
            variants.map(({ thumbnailUrl }: any) => thumbnailUrl),
            read.map(({ thumbnailUrl }) => thumbnailUrl)
          )
          return variants.map(shown)
        })
        assert.deepStrictEqual(yield* listed, [undefined, undefined, undefined])
        const [a, b] = [yield* image, yield* image]
        yield* activate(parent, "files", { files: [entry("download", a)] })
        yield* activate(own!, "files", { files: [entry("download", b)] })
        yield* activate(bare!, "files", {})
        assert.deepStrictEqual(yield* listed, [a, b, undefined])
        assert.strictEqual(yield* of(parent), a)
        yield* deleteModule(own!, "files")
        assert.deepStrictEqual(yield* listed, [a, a, undefined])
      })
  )

  it.effect("the variants module lists thumbnails of two thousand variants with files of their own", () =>
    Effect.gen(function* () {
      const parent = yield* createProduct({ type: "variantParent" })
      yield* activate(parent, "variants", minimalSettings["variants"])
      const files = JSON.stringify({ files: [{ ...entry("download", yield* image), position: 0 }] })
      const insert = `with made as (
          insert into products (uuid, type, identifier, name, status, position, parent_uuid, option_values)
            select gen_random_uuid(), 'variant', 'Many ' || i, 'Variant', 'draft', i, $1::uuid,
              jsonb_build_array(jsonb_build_object('option', 'size', 'value', i::text))
            from generate_series(1, 2000) i returning uuid
        ) insert into product_modules (product_uuid, module, settings) select uuid, 'files', $2::jsonb from made`
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(insert, [parent, files])).pipe(
        Effect.provide(Postgres.untimed)
      )
      const { variants } = yield* readModule(parent, "variants")
      assert.lengthOf(variants.filter(shown), 2000)
    })
  )
})
