import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as LocalFile from "../../../src/cli/upload/LocalFile.ts"
import * as Uploading from "./Uploading.ts"

let uploading: Awaited<ReturnType<typeof Uploading.start>>

beforeAll(async () => {
  uploading = await Uploading.start()
})
beforeEach(() => uploading.proxy.reset())
afterAll(() => uploading.stop())

const writes = () => uploading.proxy.answered.filter(({ method }) => method !== "GET")
const namesOf = async (sha256: string) =>
  (await uploading.assets()).filter((asset) => asset.sha256 === sha256).map(({ fileNameOriginal }) => fileNameOriginal)

/** The lines about files, without their folders. */
const linesOf = (out: string, word: string) =>
  out
    .split("\n")
    .filter((line) => line.startsWith(word))
    .map((line) => line.replaceAll(/\/\S*\//g, ""))

describe("waypost upload of a folder as it is found", () => {
  it("a file with the content of another one is reported, and --keep-duplicates makes an asset of it", async () => {
    const sha256 = uploading.file("posters/copy of poster.txt", "Koningsdag")
    uploading.file("posters/poster-koningsdag.txt", "Koningsdag")
    const dry = await uploading.upload("posters", "--dry-run")
    assert.deepStrictEqual(linesOf(dry.out, "already there as"), [
      "already there as copy of poster.txt: poster-koningsdag.txt"
    ])
    assert.include(dry.out, "1 to upload (10 B), 1 already there")
    for (const done of ["1 uploaded, 1 already there", "2 already there"]) {
      const { code, err, out } = await uploading.upload("posters")
      assert.strictEqual(code, 0, err)
      assert.include(out, done)
      assert.deepStrictEqual(linesOf(out, "already there as"), linesOf(dry.out, "already there as"))
      assert.include(out, "--keep-duplicates")
    }
    assert.deepStrictEqual(await namesOf(sha256), ["copy of poster.txt"])

    const kept = await uploading.upload("posters", "--keep-duplicates", "--dry-run")
    assert.include(kept.out, "1 to upload (10 B), 1 already there")
    assert.include((await uploading.upload("posters", "--keep-duplicates")).out, "1 uploaded, 1 already there")
    assert.deepStrictEqual(await namesOf(sha256), ["copy of poster.txt", "poster-koningsdag.txt"])
    uploading.proxy.reset()
    assert.include((await uploading.upload("posters", "--keep-duplicates")).out, "2 already there")
    assert.deepStrictEqual(writes(), [])
  })

  it("the first of several files with the same content is uploaded, however many there are", async () => {
    const sha256 = uploading.file("many/a.txt", "the same")
    for (const name of ["b", "c", "d", "e", "f"]) uploading.file(`many/${name}.txt`, "the same")
    const { out } = await uploading.upload("many", "--concurrency", "8")
    assert.include(out, "1 uploaded, 5 already there")
    assert.deepStrictEqual(await namesOf(sha256), ["a.txt"])
  })

  it("--categories-from-folders makes a category of each folder, below that of the folder around it, and uses those that exist", async () => {
    await uploading.call("POST", "/v1/asset-categories", {
      key: "summer",
      translations: [{ locale: "nl", name: "Zomer actie 2026" }]
    })
    uploading.file("brand/loose.txt", "loose")
    uploading.file("brand/Zomer actie 2026/ijs.txt", "ijs")
    uploading.file("brand/Zomer actie 2026/Väggar & Fönster/raam.txt", "raam")
    const dry = await uploading.upload("brand", "--categories-from-folders", "--dry-run")
    assert.include(dry.out, 'would create the category "Väggar & Fönster" (vaggar-fonster)\n')
    assert.notInclude(dry.out, "zomer")
    assert.deepStrictEqual(writes(), [])

    const { code, err } = await uploading.upload("brand", "--categories-from-folders", "--locale", "nl")
    assert.strictEqual(code, 0, err)
    const categories = Object.fromEntries(
      (await uploading.assets()).map(({ categories, fileNameOriginal }) => [fileNameOriginal, categories])
    )
    assert.deepStrictEqual(categories["loose.txt"], [])
    assert.deepStrictEqual(categories["ijs.txt"], ["summer"])
    assert.deepStrictEqual(categories["raam.txt"], ["vaggar-fonster"])
    const { data } = await uploading.call("GET", "/v1/asset-categories?sortBy=createdAt&sortOrder=asc")
    const [summer, windows, ...others] = data as ReadonlyArray<Readonly<Record<string, unknown>>>
    assert.deepStrictEqual(others, [])
    assert.deepInclude(windows, { parentUuid: summer!["uuid"] })
    assert.deepStrictEqual(windows!["translations"], [{ locale: "nl", name: "Väggar & Fönster" }])
    assert.notInclude((await uploading.upload("brand", "--categories-from-folders", "--dry-run")).out, "would create")
  })

  it("each folder has a category of its own, and the same one in the next run, also folders whose names make the same key", async () => {
    uploading.file("sale/Black Friday/one.txt", "one")
    uploading.file("sale/black-friday/two.txt", "two")
    uploading.file("sale/BLACK-FRIDAY/three.txt", "three")
    const upload = () => uploading.upload("sale", "--categories-from-folders", "--force")
    assert.strictEqual((await upload()).code, 0)
    const categories = async () =>
      (await uploading.assets())
        .filter(({ fileNameOriginal }) => ["one.txt", "two.txt", "three.txt"].includes(fileNameOriginal))
        .map(({ categories, fileNameOriginal }) => `${fileNameOriginal} ${categories.join()}`)
    const first = await categories()
    assert.strictEqual(new Set(first.map((line) => line.split(" ")[1])).size, 3)
    assert.strictEqual((await upload()).code, 0)
    assert.sameMembers(await categories(), [...first, ...first])
  })

  it("folders whose names have no Latin letters have categories of their own, also in different runs", async () => {
    const categoriesOf = async (folder: string) => {
      const sha256 = uploading.file(`${folder}/${folder}/file.txt`, folder)
      assert.strictEqual((await uploading.upload(folder, "--categories-from-folders")).code, 0)
      return (await uploading.assets()).find((asset) => asset.sha256 === sha256)!.categories.join()
    }
    const first = await categoriesOf("日本")
    assert.isNotEmpty(first)
    assert.notStrictEqual(await categoriesOf("中国"), first)
  })

  it("folders and files are found again whose names have letters and accents apart", async () => {
    const [folder, name] = ["Зелёный чай", "Été.txt"]
    let sha256 = ""
    for (const [copy, done] of [
      ["accents", "1 uploaded"],
      ["copied", "1 already there"]
    ] as const) {
      sha256 = uploading.file(`${copy}/${folder.normalize("NFD")}/${name.normalize("NFD")}`, "été")
      const { out } = await uploading.upload(copy, "--categories-from-folders", "--keep-duplicates")
      assert.include(out, done)
      assert.notInclude(out, "already there as")
    }
    assert.notInclude((await uploading.upload("copied", "--categories-from-folders", "--dry-run")).out, "would create")
    assert.deepStrictEqual(await namesOf(sha256), [name])
  })

  it("a file of more than 4 GiB has its size and its last bytes", async () => {
    const size = 2 ** 32 + 1
    const path = join(uploading.folder, "film.bin")
    // It takes no space but for its end.
    const file = openSync(path, "w")
    writeSync(file, "end", size - 3)
    closeSync(file)
    const found = { path, shown: path, name: "film.bin", folders: [], size, modified: 0 }
    const [bytes, head] = await Effect.runPromise(Effect.all([LocalFile.open(found), LocalFile.head(found, 2)]))
    assert.strictEqual(bytes.size, size)
    assert.strictEqual(await bytes.slice(2 ** 32 - 8, 2 ** 32 + 8).text(), "\0".repeat(6) + "end")
    assert.deepStrictEqual(new Uint8Array(head), new Uint8Array(2))
    rmSync(path)
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(LocalFile.checkReadable(bytes))))
  })

  it("a file whose content is not what its name says is reported, before and after it is uploaded", async () => {
    const gif = Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=", "base64").toString("latin1")
    uploading.file("broken/kapot.jpg", "no picture")
    uploading.file("broken/animation.png", gif)
    uploading.file("broken/notes.txt", "text")
    const expected = [
      "check animation.png: the name says image/png, the content is image/gif",
      "check kapot.jpg: the name says image/jpeg, the content is not of that type"
    ]
    assert.deepStrictEqual(linesOf((await uploading.upload("broken", "--dry-run")).out, "check"), expected)
    const { code, out } = await uploading.upload("broken")
    assert.strictEqual(code, 0)
    assert.include(out, "3 uploaded")
    assert.sameMembers(linesOf(out, "check"), expected)
  })

  it("an upload reports what it did also if a file that was uploaded is gone at its end", async () => {
    uploading.file("hot/gone.jpg", "no picture, gone")
    uploading.file("hot/kept.jpg", "no picture, kept")
    let isFirst = true
    uploading.proxy.decide(({ method, path }) => {
      if (method === "POST" && path === "/v1/assets" && isFirst) {
        isFirst = false
        rmSync(join(uploading.folder, "hot/gone.jpg"))
      }
      return "pass"
    })
    const { code, err, out } = await uploading.upload("hot", "--concurrency", "1")
    assert.strictEqual(code, 0, err)
    assert.include(out, "2 uploaded")
    assert.deepStrictEqual(linesOf(out, "check"), [
      "check kept.jpg: the name says image/jpeg, the content is not of that type"
    ])
  })
})
