import { Schema } from "effect"
import { openWords } from "../schema/OpenWords.ts"

/** The modules a product can have, as their path segments, in the order in which a product lists them. */
export const ModuleName = Schema.Literals([
  "api",
  "delivery",
  "distribution",
  "locations",
  "files",
  "stock",
  "price",
  "workflow",
  "socials",
  "internal-comment",
  "campaigns",
  "permissions",
  "reservations",
  "template",
  "form-builder",
  "variants"
])
export type ModuleName = typeof ModuleName.Type

/** A module as responses name it. */
export const AnsweredModuleName = openWords(ModuleName.literals)

/** `internal-comment` as part of an identifier: `InternalComment`. */
export type Pascal<S extends string> = S extends `${infer Head}-${infer Rest}`
  ? `${Capitalize<Head>}${Pascal<Rest>}`
  : Capitalize<S>

export const pascal = <const S extends string>(name: S): Pascal<S> =>
  name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("") as Pascal<S>
