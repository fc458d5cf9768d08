import { Effect } from "effect"

const form = /^[0-9a-f]{2}\/[0-9a-f]{2}\/[\w-][\w.-]{0,199}$/

/** Whether a key has the form of the service: `ab/cd/<name>`, where the name does not begin with a dot. */
export const isObjectKey = (key: string): boolean => form.test(key)

/** The key, if it has the form of the service; any other key is a defect. */
export const objectKey = (key: string): Effect.Effect<string> =>
  isObjectKey(key) ? Effect.succeed(key) : Effect.die(`${JSON.stringify(key)} is not the key of an object`)

/** The folders of a key, outermost first. */
export const foldersOf = (key: string): ReadonlyArray<string> => key.split("/").slice(0, -1)
