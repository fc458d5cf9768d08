import { readdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const built = `${root}dist/program/`

/** What changes when a file is edited, or when one is added to a folder. Archives keep whole seconds. */
export const stampOf = (path) => {
  if (path.endsWith("/")) return readdirSync(root + path).join(" ")
  const { mtimeMs, size } = statSync(root + path)
  return `${Math.trunc(mtimeMs / 1000)} ${size}`
}

/** Whether the programs were built from the files that are here. */
const isCurrent = () => {
  try {
    const stamps = JSON.parse(readFileSync(`${built}sources.json`, "utf8"))
    return Object.entries(stamps).every(([path, stamp]) => stampOf(path) === stamp)
  } catch {
    return false
  }
}

/** The file of a program, by its path from `src`: the one that `npm ci` built, or its source where a source has changed. */
export const fileOf = (name) => (isCurrent() ? `${built}${name}.js` : `${root}src/${name}.ts`)
