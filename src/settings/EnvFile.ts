import { Effect, Predicate } from "effect"
import { SettingsError } from "./SettingsError.ts"

/**
 * Sets the variables of the file `.env` in the working directory, if there is one; variables that are set win. Runs before
 * anything reads a setting.
 */
export const load = Effect.try({ try: () => process.loadEnvFile(), catch: (error) => error }).pipe(
  Effect.catch((error) =>
    Predicate.hasProperty(error, "code") && error.code === "ENOENT"
      ? Effect.void
      : Effect.fail(new SettingsError({ message: `.env cannot be read: ${String(error)}` }))
  )
)
