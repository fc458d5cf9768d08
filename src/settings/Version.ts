import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { installed } from "./Installation.ts"

const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

/** Reads the version of this installation from package.json. */
export const version = () => Schema.decodeSync(Package)(readFileSync(installed("package.json"), "utf8")).version
