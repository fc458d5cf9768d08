import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../src/domain/schema/Json.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { resolve } from "../../../../src/domain/write/References.ts"
import { long, many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"

const file = (fields: object = {}) => ({ fileUuid: uuid(7), role: "download", ...fields })

describe("the files module", () => {
  it("the files module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("files", {}), { files: [], downloadAllowed: true, watermark: false }))

  it("the files module stores values within the bounds, and only the reference of each file", () => {
    const stored = (fields: object = {}) => ({ uuid: uuid(1), ...file(), position: 0, ...fields })
    const urls = { original: "a", thumbnail: "b", preview: "c", cdnUrl: "d" }
    assert.deepStrictEqual(
      ...stores(
        "files",
        {},
        [{ files: [file()] }, { files: [stored()] }],
        [{ files: [file({ fileSize: 3, sha256: "a", mimeType: "image/png", urls })] }, { files: [stored()] }],
        [
          { files: [file({ uuid: uuid(5), assetUuid: null, locale: "nl_NL", name: "Poster", position: 3 })] },
          { files: [stored({ uuid: uuid(5), locale: "nl-NL", name: "Poster", position: 3 })] }
        ],
        // An entry with an asset stores no file uuid; the asset determines the file.
        ...[{ fileUuid: uuid(7) }, { fileUuid: null }, {}].map(
          (sent) =>
            [
              { files: [{ assetUuid: uuid(6), role: "download", ...sent }] },
              { files: [{ uuid: uuid(1), assetUuid: uuid(6), role: "download", position: 0 }] }
            ] as const
        ),
        { downloadAllowed: false, watermark: true }
      )
    )
    assert.deepStrictEqual(...acceptsInt("files", {}, "downloadLimitPerLocation", [1, 1_000_000]))
    assert.lengthOf((outcome("files", { files: many(200, () => file()) }) as any).files, 200)
  })

  it("the files module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "files",
        {},
        [{ files: many(201, () => file()) }, "files tooMany"],
        [{ files: [file({ role: "cover" })] }, "files.0.role notAllowed"],
        [{ files: [{ role: "download" }] }, "files.0.fileUuid required"],
        [{ files: [{ role: "download", fileUuid: null, assetUuid: null }] }, "files.0.fileUuid required"],
        [{ files: [file({ name: long(256) })] }, "files.0.name tooLong"],
        [{ files: many(2, () => file({ uuid: uuid(1) })) }, "files.1.uuid duplicate"]
      )
    ))

  it("the files module returns the facts of each file, and drops files that no longer exist", () => {
    const named = [1, 2].flatMap((one) => [file({ fileUuid: uuid(one) }), file({ assetUuid: uuid(one + 2) })])
    const facts = { [`files ${uuid(1)}`]: { fileSize: 3 }, [`assets ${uuid(3)}`]: { fileUuid: uuid(9), fileSize: 4 } }
    const lookup = (kind: string, id: string) => facts[`${kind} ${id}`]
    const { files } = resolve(moduleOf("files"), outcome("files", { files: named }) as Json, lookup) as {
      readonly files: ReadonlyArray<Readonly<Record<string, unknown>>>
    }
    assert.deepStrictEqual(
      files.map(({ assetUuid, fileSize, fileUuid }) => [fileUuid, assetUuid, fileSize]),
      [
        [uuid(1), undefined, 3],
        [uuid(9), uuid(3), 4]
      ]
    )
  })
})
