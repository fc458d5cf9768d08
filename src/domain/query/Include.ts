import { Schema, SchemaTransformation } from "effect"
import type { Permission } from "../keys/Permission.ts"
import { commaList } from "../schema/CommaList.ts"

/** How many related records an answer includes, of each kind. */
export const maxIncluded = 100

/** The permissions for the records that an answer can include, by the name that asks for them. */
export const includedPermissions: Readonly<Record<string, Permission>> = {
  users: "read:users",
  locations: "read:locations",
  groups: "read:groups",
  variants: "read:products",
  modules: "read:products"
}

const listed = (names: ReadonlyArray<string>) =>
  names
    .map((name) => (name in includedPermissions ? `${name} (needs \`${includedPermissions[name]}\`)` : name))
    .join(", ")

/** The members that an answer has on request. */
export const Include = <const Names extends ReadonlyArray<string>>(names: Names) =>
  Schema.String.annotate({
    description: `What to answer as well: a comma-separated list of ${listed(names)}.`,
    examples: [names.slice(0, 2).join(",")]
  }).pipe(
    Schema.decodeTo(Schema.Array(Schema.String), commaList),
    Schema.decodeTo(Schema.Array(Schema.Literals(names)), SchemaTransformation.passthroughSupertype())
  )
