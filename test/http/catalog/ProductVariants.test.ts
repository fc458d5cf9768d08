import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  activate,
  createProduct,
  createVariant,
  patchProduct,
  postProduct,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>

const size = (value: string) => [{ option: "size", value }]
const invalid = (...problems: ReadonlyArray<string>) => [400, "InvalidRequestError", ...problems]

layer(TestServer.layer(), { excludeTestServices: true })("Variants", (it) => {
  const parent = Effect.suspend(() => createProduct({ type: "variantParent" }))

  it.effect("a variant requires a variantParent and options, and other products reject them", () =>
    Effect.gen(function* () {
      const variant = { type: "variant", parentUuid: yield* parent, optionValues: size("a4") }
      for (const [fields, ...problems] of [
        [{ parentUuid: undefined }, "parentUuid required"],
        [{ parentUuid: undefined, optionValues: null }, "parentUuid required", "optionValues required"],
        [{ optionValues: undefined }, "optionValues required"],
        [{ optionValues: [] }, "optionValues tooFew"],
        [{ optionValues: [...size("a4"), ...size("a5")] }, "optionValues duplicate"],
        [{ parentUuid: yield* createProduct() }, "parentUuid notParent"],
        [{ parentUuid: yield* createVariant(yield* parent) }, "parentUuid notParent"],
        [{ type: "default" }, "parentUuid variantOnly", "optionValues variantOnly"],
        [{ type: "variantParent", parentUuid: undefined }, "optionValues variantOnly"]
      ] as ReadonlyArray<readonly [Fields, ...ReadonlyArray<string>]>) {
        assert.deepStrictEqual(problemsOf(yield* postProduct({ ...variant, ...fields })), invalid(...problems))
      }
      const missing = yield* postProduct({ ...variant, parentUuid: unknownUuid })
      assert.deepStrictEqual([...problemsOf(missing), missing.body.uuid], [404, "ProductNotFoundError", unknownUuid])
      const uuid = yield* createProduct(variant)
      assert.deepInclude(yield* readProduct(uuid), { parentUuid: variant.parentUuid, optionValues: size("a4") })
      assert.deepStrictEqual(
        problemsOf(yield* patchProduct(uuid, { parentUuid: null })),
        invalid("parentUuid variantOnly")
      )
      assert.strictEqual((yield* patchProduct(uuid, { parentUuid: yield* parent })).status, 200)
    })
  )

  it.effect("a combination of options is unique among the variants of a parent, in any order of the options", () =>
    Effect.gen(function* () {
      const parentUuid = yield* parent
      const options = [...size("a4"), { option: "paper", value: "matt" }]
      const post = (optionValues: unknown, of = parentUuid) =>
        postProduct({ type: "variant", parentUuid: of, optionValues })
      const race = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => post(index % 2 === 0 ? options : options.toReversed())),
        { concurrency: 20 }
      )
      assert.strictEqual(race.filter(({ status }) => status === 201).length, 1)
      const lost = race.find(({ status }) => status !== 201)!
      assert.deepStrictEqual(problemsOf(lost), invalid("optionValues notUnique"))
      assert.strictEqual((yield* post(options, yield* parent)).status, 201)
      const won: string = race.find(({ status }) => status === 201)!.body.data.uuid
      const { optionValues } = yield* readProduct(won)
      assert.deepStrictEqual(optionValues, optionValues[0].option === "size" ? options : options.toReversed())
      const other = yield* createVariant(parentUuid)
      assert.deepStrictEqual(
        problemsOf(yield* patchProduct(other, { optionValues: options })),
        invalid("optionValues notUnique")
      )
    })
  )

  it.effect("a parent counts its variants and can be deleted only after them", () =>
    Effect.gen(function* () {
      const uuid = yield* parent
      const variants = [yield* createVariant(uuid), yield* createVariant(uuid)]
      assert.strictEqual((yield* readProduct(uuid)).variantCount, 2)
      assert.notProperty(yield* readProduct(variants[0]!), "variantCount")
      const rejected = yield* send("DELETE", `/v1/products/${uuid}`)
      assert.deepStrictEqual(problemsOf(rejected), invalid("uuid hasVariants"))
      assert.include(rejected.body.message, "2 variants")
      for (const one of [...variants, uuid]) {
        assert.deepStrictEqual((yield* send("DELETE", `/v1/products/${one}`)).body, {
          _tag: "Success",
          data: { uuid: one }
        })
      }
      for (const method of ["GET", "DELETE"]) {
        const body = expectError(yield* send(method, `/v1/products/${uuid}`), 404, "ProductNotFoundError")
        assert.strictEqual(body.uuid, uuid)
      }
    })
  )

  it.effect("deleting a parent while a variant is created leaves no orphan", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 10; round++) {
        const uuid = yield* parent
        const post = postProduct({ type: "variant", parentUuid: uuid, optionValues: size("a4") })
        const [posted, deleted] = yield* Effect.all([post, send("DELETE", `/v1/products/${uuid}`)], { concurrency: 2 })
        const outcome = `${posted.status} ${deleted.status}`
        assert.include(["201 400", "404 200", "400 200"], outcome)
      }
    })
  )

  it.effect("a list with the variants of products is a 400 that asks for fewer products if these are too many", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const many = Effect.suspend(() => createProduct({ type: "variantParent", name: "Many variants" }))
      const parents = yield* Effect.replicateEffect(many, 6)
      for (const uuid of parents) {
        yield* activate(uuid, "variants", { options: [{ key: "n", values: [{ key: "1" }] }] })
        for (const part of [0, 1, 2]) {
          yield* pooled`insert into products (uuid, type, identifier, name, status, position, parent_uuid, option_values)
            select gen_random_uuid(), 'variant', ${uuid} || i, 'a', 'draft', 0, ${uuid}::uuid,
              jsonb_build_array(jsonb_build_object('option', 'n', 'value', i::text))
            from generate_series(${part}::int * 600 + 1, ${part}::int * 600 + 600) i`
        }
      }
      const list = (limit: number) =>
        send("GET", `/v1/products?filter=name:equals:Many variants&include=modules&limit=${limit}`)
      assert.deepStrictEqual(problemsOf(yield* list(6)), invalid("limit tooMuch"))
      const { body } = yield* list(5)
      const variantsOf = (product: any) => product.modules.find((one: any) => one.module === "variants").variants
      assert.deepStrictEqual(
        body.data.map((product: any) => variantsOf(product).length),
        [1800, 1800, 1800, 1800, 1800]
      )
      // The module of a parent with its variants is no module of these.
      const ofOne = yield* send("GET", `/v1/products?filter=parentUuid:equals:${parents[0]}&include=modules&limit=100`)
      assert.strictEqual(ofOne.status, 200)
      assert.lengthOf(ofOne.body.data, 100)
    })
  )

  it.effect("a parent has at most two thousand variants, even with concurrent creations", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const parentUuid = yield* parent
      for (let part = 0; part < 3; part++) {
        yield* pooled.unsafe(
          `insert into products (uuid, type, identifier, name, status, position, parent_uuid, option_values)
            select gen_random_uuid(), 'variant', 'limit-' || i, 'a', 'draft', 0, $1::uuid,
              jsonb_build_array(jsonb_build_object('option', 'n', 'value', i::text))
            from generate_series($2::int * 666 + 1, $2::int * 666 + 666) i`,
          [parentUuid, part]
        )
      }
      const post = (index: number) => postProduct({ type: "variant", parentUuid, optionValues: size(`${index}`) })
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, (_, index) => post(index)),
        { concurrency: 8 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
      const rejected = answers.filter(({ status }) => status !== 201)
      for (const answer of rejected) assert.deepStrictEqual(problemsOf(answer), invalid("parentUuid tooMany"))
      assert.strictEqual((yield* readProduct(parentUuid)).variantCount, 2000)
    })
  )
})
