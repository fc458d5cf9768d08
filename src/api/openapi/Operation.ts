import { Record } from "effect"
import type { JsonSchema } from "./JsonSchema.ts"

/** The parts of a derived document that are completed. */
export interface MediaType {
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface Reference {
  readonly $ref: string
}

export type Content = Readonly<Record<string, MediaType>>

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: JsonSchema
  readonly description?: string
}

export interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content; readonly required: boolean }
  readonly responses: Readonly<Record<string, Response>>
  readonly description?: string
  readonly "x-required-permissions"?: ReadonlyArray<string>
}

export type Paths<Op = Operation> = Readonly<Record<string, Readonly<Record<string, Op>>>>

/** An operation with its place. */
export interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** Maps every operation. */
export const mapOperations = <A>(paths: Paths, f: (placed: Placed) => A): Paths<A> =>
  Record.map(paths, (methods, path) => Record.map(methods, (operation, method) => f({ path, method, operation })))

/** `locations.list` and `uuid` as parts of the name of a component. */
export const pascal = (name: string) =>
  name.replaceAll(/(?:^|[^A-Za-z0-9])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Something that several operations have, by the operations that have it. */
export interface Repeated<A> {
  readonly value: A
  readonly holders: ReadonlyArray<string>
}

/**
 * The values that several operations have by name, so that the document has each of them once, and a function that references
 * them. A value has the first of its names that no value before it has; a value without such a name stays where it is.
 */
export const shared = <A>(
  kind: "parameters" | "responses",
  values: ReadonlyArray<readonly [holder: string, value: A]>,
  namesOf: (repeated: Repeated<A>) => ReadonlyArray<string>
) => {
  const byText = Map.groupBy(values, ([, value]) => JSON.stringify(value))
  const names = new Map<string, string>()
  const components: Record<string, A> = {}
  for (const [text, found] of byText) {
    const [first] = found
    if (first === undefined || found.length < 2) continue
    const repeated = { value: first[1], holders: found.map(([holder]) => holder) }
    const name = namesOf(repeated).find((candidate) => !Object.hasOwn(components, candidate))
    if (name === undefined) continue
    components[name] = repeated.value
    names.set(text, name)
  }
  return {
    components,
    reference: (value: A): A | Reference => {
      const name = names.get(JSON.stringify(value))
      return name === undefined ? value : { $ref: `#/components/${kind}/${name}` }
    }
  }
}
