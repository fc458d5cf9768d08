import { Schema } from "effect"
import { readFileSync } from "node:fs"

const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

/** Reads the version of this installation from package.json. */
export const version = () =>
  Schema.decodeSync(Package)(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version
