import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Builds the client into `node_modules` of a folder, with links to what it needs there. */
export const install = (folder: string) => {
  const modules = join(folder, "node_modules")
  mkdirSync(join(modules, "@waypost"), { recursive: true })
  for (const name of ["@types", "effect", "re2js"]) symlinkSync(join(root, "node_modules", name), join(modules, name))
  execFileSync(process.execPath, ["scripts/client.ts", "--out", join(modules, "@waypost/client")], {
    cwd: root,
    env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}` }
  })
}
