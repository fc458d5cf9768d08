import { assert, describe, it } from "@effect/vitest"
import { moduleOf } from "../../../src/domain/ProductModule.ts"
import { long, many, outcome, refuses, stores, takesInt, uuid } from "./outcome.ts"

const file = (fields: object = {}) => ({ fileUuid: uuid(7), role: "download", ...fields })

describe("the files module", () => {
  it("has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("files", {}), { files: [], downloadAllowed: true, watermark: false }))

  it("stores what is within the bounds, and of files only which", () => {
    const stored = (fields: object = {}) => ({ uuid: uuid(1), ...file(), position: 0, ...fields })
    const urls = { original: "a", thumbnail: "b", preview: "c", cdnUrl: "d" }
    assert.deepStrictEqual(
      ...stores(
        "files",
        {},
        [{ files: [file()] }, { files: [stored()] }],
        [{ files: [file({ fileSize: 3, sha256: "a", mimeType: "image/png", urls })] }, { files: [stored()] }],
        [
          { files: [file({ uuid: uuid(5), assetUuid: uuid(6), locale: "nl_NL", name: "Poster", position: 3 })] },
          { files: [stored({ uuid: uuid(5), assetUuid: uuid(6), locale: "nl-NL", name: "Poster", position: 3 })] }
        ],
        { downloadAllowed: false, watermark: true }
      )
    )
    assert.deepStrictEqual(...takesInt("files", {}, "downloadLimitPerLocation", [1, 1_000_000]))
    assert.lengthOf((outcome("files", { files: many(200, () => file()) }) as any).files, 200)
  })

  it("refuses what is not", () =>
    assert.deepStrictEqual(
      ...refuses(
        "files",
        {},
        [{ files: many(201, () => file()) }, "files tooMany"],
        [{ files: [file({ role: "cover" })] }, "files.0.role notAllowed"],
        [{ files: [{ role: "download" }] }, "files.0.fileUuid required"],
        [{ files: [file({ name: long(256) })] }, "files.0.name tooLong"],
        [{ files: many(2, () => file({ uuid: uuid(1) })) }, "files.1.uuid duplicate"]
      )
    ))

  it("tells of a file what is known, and of an asset only that it is there", () => {
    const settings = outcome("files", { files: [file({ assetUuid: uuid(6) }), file({ fileUuid: uuid(8) })] })
    const look = (kind: string, id: string) => (kind === "files" && id === uuid(7) ? { fileSize: 3 } : undefined)
    const { files } = moduleOf("files").resolve(settings, look) as { readonly files: ReadonlyArray<object> }
    assert.lengthOf(files, 1)
    assert.deepInclude(files[0], { fileUuid: uuid(7), fileSize: 3 })
    assert.notProperty(files[0], "assetUuid")
  })
})
