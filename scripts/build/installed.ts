import { createRequire } from "node:module"

/** Whether a package is installed: those for development are not in production. */
export const isInstalled = (name: string) => {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
