import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** A query parameter with a form of its own; `parse` returns nothing for a text without it. */
export const parameter = <A>(options: {
  readonly type: Schema.Codec<A>
  readonly expected: string
  readonly description: string
  readonly example: string
  readonly parse: (text: string) => A | undefined
  readonly print: (value: A) => string
}) =>
  Schema.String.annotate({ description: options.description, examples: [options.example] }).pipe(
    Schema.decodeTo(
      options.type,
      SchemaTransformation.transformEffect<A, string>({
        decode: (text) => {
          const value = options.parse(text)
          const message = `Expected ${options.expected}, such as ${options.example}`
          return value === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message, code: "invalidFormat" }, text))
            : Effect.succeed(value)
        },
        encode: (value) => Effect.succeed(options.print(value))
      })
    )
  )
