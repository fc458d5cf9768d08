import { Schema } from "effect"

/** Invalid settings: one line for each, with its name, what is expected and a valid example. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", { message: Schema.String }) {}
