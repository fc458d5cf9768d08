import type { Action, Resource } from "../definition/Definition.ts"

/** Whether a key can import rows of a resource: a plan compares them, and then creates and updates records. */
export const isImportable = (
  { actions, imported }: Resource,
  can: (action: Action | undefined) => action is Action
): boolean => imported.length > 0 && [actions.get, actions.create, actions.update].every(can)
