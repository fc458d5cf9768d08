import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { guides, read, root } from "./Guide.ts"

const foldersOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`)

describe("The guide to the architecture", () => {
  it("maps every first and second level folder of src, and no others", () => {
    const [, map = ""] = /## Map of the code\n([\s\S]*?)\n## /.exec(read("docs/architecture.md")) ?? []
    const mapped = [...map.matchAll(/^\| `(src\/[\w/]+)` \|/gm)].map(([, folder]) => folder)
    const first = foldersOf("src")
    const second = first.flatMap(foldersOf)
    assert.sameMembers(mapped, [...first, ...second])
  })
})

describe("The folders of src", () => {
  it("hold at most 20 files each, apart from migrations and product modules", () => {
    const folders = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\/(?:migrations|modules)$/.test(entry.parentPath))
      .map(({ parentPath }) => parentPath)
    const counts = Map.groupBy(folders, (folder) => folder)
    assert.deepStrictEqual(
      [...counts].filter(([, files]) => files.length > 20).map(([folder]) => folder),
      []
    )
  })
})

describe.each(["README.md", "DECISIONS.md", ...guides])("%s", (file) => {
  it("names only source files and folders that exist", () => {
    const paths = [...read(file).matchAll(/`((?:src|test|scripts)\/[\w./-]+|[a-z]+\/[\w/]+\.ts)`/g)].map(
      ([, path]) => path!
    )
    const missing = paths.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, "src", path)))
    assert.deepStrictEqual(missing, [])
  })
})
