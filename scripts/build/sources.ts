import { writeFileSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { stampOf } from "../../bin/program.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** A module of a package, which changes with its manifest. */
const inPackage = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/].*$/

/** A plugin that notes what a bundle is built from, and writes the list into the folder of the bundle. */
export const noted = (folders: ReadonlyArray<string> = []) => {
  const stamps = new Map(folders.map((folder) => [folder, stampOf(folder)]))
  return {
    plugin: {
      name: "sources",
      enforce: "pre" as const,
      // Stamped before it is read, so that a change during the build is noticed; a module of constants is in no chunk.
      load: (id: string) => {
        if (!isAbsolute(id)) return
        const path = relative(root, id.replace(inPackage, "$1/package.json"))
        if (!stamps.has(path)) stamps.set(path, stampOf(path))
      }
    },
    write: (folder: string) => writeFileSync(join(folder, "sources.json"), JSON.stringify(Object.fromEntries(stamps)))
  }
}
