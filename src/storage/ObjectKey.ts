import { Effect } from "effect"

const form = /^[0-9a-f]{2}\/[0-9a-f]{2}\/[\w-][\w.-]{0,199}$/

/** Whether a key is one of ours: `ab/cd/<name>`, where the name never begins with a dot. */
export const isObjectKey = (key: string): boolean => form.test(key)

/** The key itself. A key of another form was not made by the service, and what it names is none of its business. */
export const objectKey = (key: string): Effect.Effect<string> =>
  isObjectKey(key) ? Effect.succeed(key) : Effect.die(`${JSON.stringify(key)} is not the key of an object`)

/** The folders of a key, outermost first. */
export const foldersOf = (key: string): ReadonlyArray<string> => key.split("/").slice(0, -1)
