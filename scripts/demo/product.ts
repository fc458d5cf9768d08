import { combined, type Texts, translated, upperFirst } from "./words.ts"

/** A product of the demo as an import takes it. */
export const product = (
  identifier: string,
  names: Texts,
  about: Texts,
  { modules, ...rest }: { readonly modules: object; readonly [member: string]: unknown }
) => ({
  type: "default",
  identifier: identifier.toUpperCase(),
  name: upperFirst(names.en),
  description: about.en,
  translations: translated({ name: names, description: about }),
  status: "published",
  ...rest,
  modules
})

/** What is said of a product: what it is, and more. */
export const aboutOf = (about: Texts, more: Texts): Texts =>
  combined((language) => `${about[language]}. ${more[language]}`)
