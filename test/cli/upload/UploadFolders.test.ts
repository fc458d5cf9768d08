import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as Command from "../../support/cli/Command.ts"
import { isPart } from "../../support/cli/Proxy.ts"
import * as Uploading from "./Uploading.ts"

let uploading: Awaited<ReturnType<typeof Uploading.start>>

beforeAll(async () => {
  uploading = await Uploading.start()
})
beforeEach(() => uploading.proxy.reset())
afterAll(() => uploading.stop())

const { mebibyte } = Uploading
const writes = () => uploading.proxy.answered.filter(({ method }) => method !== "GET")
const parts = () => uploading.proxy.answered.filter(isPart)

describe("waypost upload", () => {
  it("an upload creates an asset for every file, including subfolders, and lists the files it skips", async () => {
    const hashes = {
      "menukaart été 2026.txt": uploading.file("brand/menukaart été 2026.txt", "x"),
      "summer-sale_poster.bin": uploading.file("brand/posters/summer-sale_poster.bin", mebibyte),
      "Výloha č. 7.bin": uploading.file("brand/posters/large/Výloha č. 7.bin", 16 * mebibyte + 1)
    }
    uploading.file("brand/nothing.txt", "")
    uploading.file("brand/.hidden/secret.txt", "secret")
    symlinkSync("..", join(uploading.folder, "brand/posters/circle"))

    const { code, err, out } = await uploading.upload("brand")
    assert.strictEqual(code, 0, err)
    assert.include(out, "3 uploaded, 3 skipped (17.8 MB in ")
    assert.match(out, /skipped \S+nothing\.txt: empty\n/)
    assert.match(out, /skipped \S+\.hidden: hidden\n/)
    assert.match(out, /skipped \S+circle: a link to a folder; to include it, pass its path as an argument\n/)
    assert.lengthOf(parts(), 1 + 1 + 3)
    const assets = await uploading.assets()
    assert.deepStrictEqual(Object.fromEntries(assets.map((asset) => [asset.fileNameOriginal, asset.sha256])), hashes)
    assert.deepStrictEqual(
      assets.flatMap(({ translations }) => translations),
      [
        { locale: "en", name: "menukaart été 2026" },
        { locale: "en", name: "summer-sale poster" },
        { locale: "en", name: "Výloha č. 7" }
      ]
    )
  })

  it("a second upload of the same folder sends nothing", async () => {
    const { code, out } = await uploading.upload("brand")
    assert.strictEqual(code, 0)
    assert.include(out, "3 already there, 3 skipped (0 B in ")
    assert.deepStrictEqual(writes(), [])
  })

  it("an upload rehashes a touched file, and uploads a changed one", async () => {
    utimesSync(join(uploading.folder, "brand/menukaart été 2026.txt"), 1, 1)
    const sha256 = uploading.file("brand/posters/summer-sale_poster.bin", "changed")
    const { out } = await uploading.upload("brand")
    assert.include(out, "1 uploaded, 2 already there")
    assert.lengthOf(parts(), 1)
    const posters = (await uploading.assets()).filter((asset) => asset.fileNameOriginal === "summer-sale_poster.bin")
    assert.lengthOf(posters, 2)
    assert.include(
      posters.map((asset) => asset.sha256),
      sha256
    )
  })

  it("an upload skips content that exists under another name, unless --force is given", async () => {
    uploading.file("copies/first.txt", "the same")
    uploading.file("copies/second.txt", "the same")
    uploading.file("copies/menu.txt", "x")
    const { out } = await uploading.upload("copies")
    assert.include(out, "1 uploaded, 2 already there")
    assert.lengthOf(parts(), 1)
    assert.include((await uploading.upload("copies/second.txt", "--force")).out, "1 uploaded (8 B")
    const copies = (await uploading.assets()).filter(({ fileSize }) => fileSize === 8)
    assert.lengthOf(copies, 2)
  })

  it("an upload lists rejected files with the reasons, uploads the others, and exits with 1", async () => {
    uploading.file("mixed/fine.txt", "fine")
    uploading.file("mixed/page.html", "<html></html>")
    uploading.file("mixed/program.txt", "\u007FELF\u0002\u0001\u0001" + "\0".repeat(100))
    const { code, err, out } = await uploading.upload("mixed")
    assert.strictEqual(code, 1)
    assert.include(out, "1 uploaded, 2 refused")
    const list = join(uploading.folder, "mixed.refused.ndjson")
    assert.include(err, list)
    const refused = readFileSync(list, "utf8").trim().split("\n").toSorted()
    assert.lengthOf(refused, 2)
    assert.include(refused[0], "page.html")
    assert.include(refused[0], "text/html")
    assert.include(refused[1], "program.txt")
    assert.include(refused[1], "notAllowed")
  })

  it("an upload skips links to files in folders, and uploads one that is passed as an argument", async () => {
    uploading.file("private/id_rsa.txt", "a private key")
    uploading.file("shared/poster.txt", "a poster")
    symlinkSync(join(uploading.folder, "private/id_rsa.txt"), join(uploading.folder, "shared/leak.txt"))
    symlinkSync(join(uploading.folder, "nothing"), join(uploading.folder, "shared/nothing.txt"))
    const { code, err, out } = await uploading.upload("shared")
    assert.strictEqual(code, 0, err)
    assert.include(out, "1 uploaded, 2 skipped")
    assert.match(out, /skipped \S+nothing\.txt: a link that leads to no file\n/)
    assert.match(out, /skipped \S+leak\.txt: a link to a file; to include it, pass its path as an argument\n/)
    const names = async () => (await uploading.assets()).map(({ fileNameOriginal }) => fileNameOriginal)
    assert.notInclude(await names(), "leak.txt")
    assert.include((await uploading.upload("shared/leak.txt")).out, "1 uploaded")
    assert.include(await names(), "leak.txt")
  })

  it("a dry run lists names and sizes, and writes nothing locally or remotely", async () => {
    uploading.file("later/coming-soon.txt", 1000)
    const state = join(uploading.folder, "untouched")
    const { code, out } = await Command.waypost(["upload", join(uploading.folder, "later"), "--dry-run"], {
      ...uploading.env,
      XDG_STATE_HOME: state
    })
    assert.strictEqual(code, 0)
    assert.include(out, 'coming-soon.txt as "coming soon" (1 kB)')
    assert.include(out, "1 to upload (1 kB), 0 already there")
    assert.deepStrictEqual(writes(), [])
    assert.isFalse(existsSync(state))
  })

  it("an upload sets the categories and the locale of the name", async () => {
    await uploading.call("POST", "/v1/asset-categories", { key: "posters" })
    await uploading.call("POST", "/v1/asset-categories", { key: "summer" })
    uploading.file("sorted/ijs.txt", "ijs")
    await uploading.upload("sorted", "--category", "posters", "--category", "summer", "--locale", "nl-NL")
    const asset = (await uploading.assets()).find(({ fileNameOriginal }) => fileNameOriginal === "ijs.txt")!
    assert.sameMembers([...asset.categories], ["posters", "summer"])
    assert.deepStrictEqual(asset.translations, [{ locale: "nl-NL", name: "ijs" }])
  })

  it.each([
    ["an unknown category", ["--category", "postres"], "postres"],
    ["an unknown locale", ["--locale", "xx-YY"], "xx-YY"]
  ])("an upload with %s sends nothing", async (_, options, named) => {
    uploading.file("unsent/file.txt", "unsent")
    const { code, err } = await uploading.upload("unsent", ...options)
    assert.strictEqual(code, 1)
    assert.include(err, named)
    assert.deepStrictEqual(writes(), [])
  })

  it("an upload with a key that cannot create assets sends nothing and reports the missing permissions", async () => {
    const made = await uploading.call("POST", "/v1/api-keys", { name: "Half", permissions: ["create:uploads"] })
    const { key } = made.data as { readonly key: string }
    uploading.file("unsent/file.txt", "unsent")
    const { code, err } = await uploading.upload("unsent", "--key", key)
    assert.strictEqual(code, 1)
    assert.include(err, "lacks create:assets, read:assets")
    assert.deepStrictEqual(writes(), [])
  })
})
