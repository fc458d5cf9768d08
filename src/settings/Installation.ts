import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { fileOf } from "../../bin/program.mjs"

/** A file or folder of this installation, by its path from the folder with package.json. */
export const installed = (path: string) => join(dirname(findPackageJSON("..", import.meta.url)!), path)

/** Whether the built programs run. They are under the paths of their sources. */
export const isBuilt = import.meta.url.endsWith(".js")

/** A folder of the code that runs, built or not, by its path from `src`. */
export const codeOf = (path: string) => installed(join(isBuilt ? "dist/program" : "src", path))

/** The file of a program, which runs in a process of its own, by its path from `src`. */
export const programOf = (name: string) => `${codeOf(name)}${isBuilt ? ".js" : ".ts"}`

/**
 * The file of a program that starts often: the built one, which starts in a third of the time, unless a source has changed since it
 * was built. Each start asks anew.
 */
export const quickProgramOf = (name: string) => (isBuilt ? programOf(name) : fileOf(name))
