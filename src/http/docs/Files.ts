import { existsSync } from "node:fs"
import { installed } from "../../settings/Installation.ts"

/** A file of the folder `docs`. */
export const fileOf = (name: string) => installed(`docs/${name}.md`)

export const hasGuide = (slug: string) => existsSync(fileOf(slug))
