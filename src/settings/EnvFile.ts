import { Effect, Option, Predicate } from "effect"
import { SettingsError } from "./SettingsError.ts"

/** None if there is no file. */
const failureOf = (error: unknown): Option.Option<SettingsError> =>
  Predicate.hasProperty(error, "code") && error.code === "ENOENT"
    ? Option.none()
    : Option.some(new SettingsError({ message: `.env cannot be read: ${String(error)}` }))

/**
 * Sets the variables of the file `.env` in the working directory, if there is one; variables of the environment win, also
 * empty ones. Runs before anything reads a setting.
 */
export const load = Effect.try({ try: () => process.loadEnvFile(), catch: failureOf }).pipe(
  Effect.catch(Option.match({ onNone: () => Effect.void, onSome: (error) => Effect.fail(error) }))
)
