/* oxlint-disable typescript/consistent-type-imports -- a module without a file cannot import from a relative path */

/** What `scripts/build/console.ts` reads from the definition of the API. */
declare module "virtual:definition" {
  const definition: import("./definition/Definition.ts").Definition
  export default definition
}

declare module "virtual:forms" {
  const forms: import("./definition/Definition.ts").Forms
  export default forms
}
