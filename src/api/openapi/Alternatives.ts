import { Predicate, Record } from "effect"
import { membersOfType } from "../../domain/catalog/Product.ts"
import { objectOf } from "../../domain/schema/Json.ts"
import { type Components, type JsonSchema, refTo } from "./JsonSchema.ts"
import { pascal } from "./Operation.ts"

/** A component of which one member determines which others are always present. */
interface Discriminated {
  readonly component: string
  readonly member: string
  /** The members that are present with each value of the member. */
  readonly alternatives: Readonly<Record<string, ReadonlyArray<string>>>
}

const discriminated: ReadonlyArray<Discriminated> = [
  {
    component: "Product",
    member: "type",
    alternatives: membersOfType
  }
]

/** The members that other alternatives require stay optional, so that code that reads them from any record still compiles. */
const alternative = (schema: JsonSchema, { alternatives, member }: Discriminated, value: string): JsonSchema => {
  const { properties, required } = schema
  return {
    ...schema,
    properties: Record.map(objectOf(properties), (property, name) =>
      name === member && Predicate.isObject(property) ? { ...property, enum: [value] } : property
    ),
    required: [...(Array.isArray(required) ? required : []), ...(alternatives[value] ?? [])]
  }
}

/** A union with an alternative for each value of the member that determines others. */
const alternativesOf = (schema: JsonSchema, one: Discriminated): Components => {
  const names = Object.keys(one.alternatives).map((value) => [value, `${pascal(value)}${one.component}`] as const)
  const { description } = schema
  const union = {
    ...(description === undefined ? {} : { description }),
    oneOf: names.map(([, name]) => refTo(name)),
    discriminator: {
      propertyName: one.member,
      mapping: Object.fromEntries(names.map(([value, name]) => [value, refTo(name).$ref]))
    }
  }
  return {
    [one.component]: union,
    ...Object.fromEntries(names.map(([value, name]) => [name, alternative(schema, one, value)]))
  }
}

/** The components, with the alternatives of those that have some. */
export const withAlternatives = (components: Components): Components =>
  Object.assign(
    { ...components },
    ...discriminated.map((one) => {
      const schema = components[one.component]
      return schema === undefined ? {} : alternativesOf(schema, one)
    })
  )
