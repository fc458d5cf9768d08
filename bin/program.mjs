import { readdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

// All files of a process share these threads: with the four of Node, as many slow flushes hold up every other file. Set before
// anything is read by one, which fixes their number. Workers inherit it.
process.env.UV_THREADPOOL_SIZE ||= "16"

const root = fileURLToPath(new URL("..", import.meta.url))
const dist = `${root}dist/`

/** What changes when a file is edited, or when one is added to a folder. */
export const stampOf = (path) => {
  if (path.endsWith("/")) return { names: readdirSync(root + path).join(" ") }
  const { mtimeMs, size } = statSync(root + path)
  return { mtimeMs, size }
}

/** Whether a file is the one of a stamp, or a copy: copies lose parts of a millisecond, and archives keep whole seconds. */
const isUnchanged = ([path, { mtimeMs = 0, names, size }]) => {
  const now = stampOf(path)
  if (names !== undefined) return now.names === names
  const lost = now.mtimeMs % 1000 === 0 ? 1000 : 1
  return now.size === size && Math.abs(now.mtimeMs - mtimeMs) < lost
}

/** Whether what is in a folder of `dist` was built from the files that are here. */
export const isCurrent = (folder) => {
  try {
    return Object.entries(JSON.parse(readFileSync(`${dist}${folder}/sources.json`, "utf8"))).every(isUnchanged)
  } catch {
    return false
  }
}

/** The file of a program, by its path from `src`: the one that `npm ci` built, or its source where a source has changed. */
export const fileOf = (name) => (isCurrent("program") ? `${dist}program/${name}.js` : `${root}src/${name}.ts`)
