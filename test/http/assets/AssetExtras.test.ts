import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { extraMembers } from "../../../src/domain/assets/Asset.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, createMetaTag, readAsset, upload } from "../../support/requests/AssetRequests.ts"
import { expectError, send, unique } from "../../support/requests/Requests.ts"
import { waitsForLongStatements } from "../../support/Turns.ts"

type Fields = Readonly<Record<string, unknown>>
const base = ["uuid", "urls", "fileExtension", "fileNameOriginal", "fileSize", "translations", "createdAt", "editedAt"]
const untilReady = (uuid: string): Effect.Effect<void, never, TestServer.TestServer> =>
  Effect.flatMap(readAsset(uuid, "processing"), ({ processing }) =>
    processing === "ready" ? Effect.void : Effect.andThen(Effect.sleep("50 millis"), untilReady(uuid))
  )

layer(TestServer.layer(), { excludeTestServices: true })("Extras of assets", (it) => {
  it.effect("every extra member is returned when included, alone, together and in lists", () =>
    Effect.gen(function* () {
      const image = yield* Effect.promise(() =>
        sharp({ create: { width: 40, height: 30, channels: 3, background: "#f00" } })
          .png()
          .toBuffer()
      )
      const fileUuid = yield* upload("photo.png", image)
      const category = unique("category")
      yield* createCategory({ key: category })
      const tag = yield* createMetaTag({ key: "photographer", type: "text" })
      const dates = { validFrom: "2026-01-01T00:00:00.000Z", validUntil: "2026-02-01T00:00:00.000Z" }
      const fields = { ...dates, focalPoint: { x: 0.25, y: 1 } }
      const metaTags = [{ key: "photographer", value: "Ann" }]
      const uuid = yield* createAsset({ ...fields, fileUuid, categories: [category], metaTags })
      yield* untilReady(uuid)
      // The test has no video, so it sets the duration of the file by SQL.
      yield* (yield* Sql).pooled`update files set duration = 1.5 where uuid = ${fileUuid}`
      const expected: Fields = {
        ...fields,
        categories: [category],
        metaTags: [{ uuid: tag, key: "photographer", type: "text", value: "Ann", options: [] }],
        width: 40,
        height: 30,
        duration: 1.5,
        mimeType: "image/png",
        sha256: yield* Effect.promise(() =>
          crypto.subtle.digest("SHA-256", new Uint8Array(image)).then((hash) => Buffer.from(hash).toString("hex"))
        ),
        processing: "ready"
      }
      assert.sameMembers(Object.keys(expected), [...extraMembers])
      const bare = yield* readAsset(uuid)
      assert.sameMembers(Object.keys(bare), base)
      for (const members of [...extraMembers.map((member) => [member]), extraMembers]) {
        const included = Object.fromEntries(members.map((member) => [member, expected[member]]))
        const include = members.join(", ")
        assert.deepStrictEqual(yield* readAsset(uuid, include), { ...bare, ...included })
        for (const list of ["", "/search", `/search?search=photo`, `/search?category=${category}`]) {
          const path = `/v1/assets${list}${list.includes("?") ? "&" : "?"}filter=uuid:equals:${uuid}&include=${include}`
          assert.deepStrictEqual((yield* send("GET", path)).body.data, [{ ...bare, ...included }], path)
        }
      }
    })
  )

  it.effect("unset extra members are absent, and lists are always present", () =>
    Effect.gen(function* () {
      const { categories, metaTags, mimeType, sha256, processing, ...rest } = yield* readAsset(
        yield* createAsset({ validFrom: null, validUntil: null, focalPoint: null, categories: null, metaTags: null }),
        extraMembers.join(",")
      )
      assert.deepStrictEqual([categories, metaTags, mimeType, sha256], [[], [], "text/plain", ""])
      // The job of the thumbnail may have ended already.
      assert.include(["pending", "ready", "failed"], processing)
      assert.sameMembers(Object.keys(rest), base)
    })
  )

  it.effect("a list that includes meta tags takes its turn among the long statements of its key", () =>
    Effect.gen(function* () {
      yield* createAsset()
      for (const path of ["/v1/assets", "/v1/assets/search"]) {
        assert.isTrue(yield* waitsForLongStatements(send("GET", `${path}?include=width,metaTags`)), path)
      }
    })
  )

  it.effect("an unknown extra member is rejected with the nearest name", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset()
      for (const path of [`/v1/assets/${uuid}`, "/v1/assets", "/v1/assets/search"]) {
        for (const [include, suggestions] of [
          ["categorys", ["categories"]],
          ["width,metatags", ["metaTags"]],
          ["", undefined],
          ["translations", undefined]
        ] as const) {
          const body = expectError(yield* send("GET", `${path}?include=${include}`), 400, "InvalidRequestError")
          assert.strictEqual(body.issues[0].in, "query")
          assert.match(body.issues[0].path, /^include/)
          if (suggestions !== undefined) assert.deepStrictEqual(body.issues[0].suggestions, suggestions)
        }
        assert.strictEqual((yield* send("GET", `${path}?include=width&include=height`)).status, 400)
      }
    })
  )
})
