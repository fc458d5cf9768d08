import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { isCurrent } from "../../bin/program.mjs"

/** A file or folder of this installation, by its path from the folder with package.json. */
export const installed = (path: string) => join(dirname(findPackageJSON("..", import.meta.url)!), path)

/** Whether the built programs run. They are under the paths of their sources. */
export const isBuilt = import.meta.url.endsWith(".js")

/** A folder of the code that runs, built or not, by its path from `src`. */
export const codeOf = (path: string) => installed(join(isBuilt ? "dist/program" : "src", path))

const startsBuilt = isBuilt || isCurrent("program")

/** The code of the programs that run in processes of their own: the built one, unless the sources run and one of them has changed. */
export const programs = installed(startsBuilt ? "dist/program" : "src")

/** The file of a program, which runs in a process of its own, by its path from `src`. */
export const programOf = (name: string) => join(programs, `${name}${startsBuilt ? ".js" : ".ts"}`)
