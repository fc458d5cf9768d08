import { existsSync } from "node:fs"

/** A file of the folder `docs`. */
export const fileOf = (name: string) => new URL(`../../../docs/${name}.md`, import.meta.url)

export const hasGuide = (slug: string) => existsSync(fileOf(slug))
