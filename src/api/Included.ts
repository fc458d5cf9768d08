import { Schema } from "effect"
import { modules } from "../domain/catalog/ProductModule.ts"
import { Product } from "../domain/catalog/Product.ts"
import { Location } from "../domain/locations/Location.ts"
import { Group } from "../domain/people/Group.ts"
import { User } from "../domain/people/User.ts"
import { maxIncluded } from "../domain/query/Include.ts"
import { Count } from "../domain/schema/WholeNumber.ts"

/**
 * The records of lists and reads with the records that belong to them, which are answered on request. They are no part of
 * what is written, filtered, mirrored or kept as the past of a record.
 */
const included = <S extends Schema.Top>(record: S, name: string) =>
  Schema.optionalKey(
    Schema.Array(record).annotate({
      description: `With \`include=${name}\`: the newest ${maxIncluded}. A write does not take them.`
    })
  )

const counted = (name: string) =>
  Schema.optionalKey(Count.annotate({ description: `How many ${name} belong to it; with \`include=${name}\`.` }))

const users = included(User, "users")
const locations = included(Location, "locations")
const groups = included(Group, "groups")

const { inherited, ...module } = Product.fields.modules.value.fields

/** Also has the members of the answer of the module: its schema is that of `GET /v1/products/{uuid}/modules/<module>`. */
const includedModules = Schema.Array(
  Schema.StructWithRest(Schema.Struct({ ...module, inherited }), [Schema.Record(Schema.String, Schema.Unknown)])
).annotate({
  description:
    "All modules a product of this type can have. With `include=modules`, an active one has every member that its own operation answers."
})

/** The members of each module, which `fields` can name. */
const moduleShapes = Object.values(modules).map(({ answer }) =>
  Schema.Struct({ modules: Schema.Array(Schema.Struct({ ...answer.fields, inherited })) })
)

const related = {
  locations: {
    distanceMetres: Schema.optionalKey(
      Count.annotate({ description: "In a list with `near`: how far it is, along the surface of the earth." })
    ),
    users,
    userCount: counted("users"),
    groups,
    groupCount: counted("groups")
  },
  users: { locations, locationCount: counted("locations"), groups, groupCount: counted("groups") },
  // A group has counts of its own.
  groups: { users, locations },
  products: { variants: included(Product, "variants"), modules: includedModules }
}

/** Records with what an answer can include. */
export interface Including<S extends Schema.Top, Names extends ReadonlyArray<string>> {
  readonly answered: S
  readonly names: Names
  /** Other shapes of the record whose members `fields` can name. */
  readonly shapes?: ReadonlyArray<Schema.Top>
}

export const locationRead = {
  answered: Schema.Struct({ ...Location.fields, ...related.locations }).annotate({ identifier: "Location" }),
  names: ["users", "groups"]
} as const

export const userRead = {
  answered: Schema.Struct({ ...User.fields, ...related.users }).annotate({ identifier: "User" }),
  names: ["locations", "groups"]
} as const

export const groupRead = {
  answered: Schema.Struct({ ...Group.fields, ...related.groups }).annotate({ identifier: "Group" }),
  names: ["users", "locations"]
} as const

export const productRead = {
  answered: Schema.Struct({ ...Product.fields, ...related.products }).annotate({ identifier: "Product" }),
  names: ["variants", "modules"],
  shapes: moduleShapes
} as const
