import { Effect, Schema } from "effect"
import { codecOf } from "../schema/Codec.ts"
import { objectOf } from "../schema/Json.ts"

/** Empty until the error is sent: the transport sets it in one place, so that no error has to know its request. */
const requestId = Schema.String.pipe(
  Schema.annotate({ description: "The id of the request, as in the header `X-Request-Id` and in the log." }),
  Schema.withConstructorDefault(Effect.succeed(""))
)

type WithRequestId<Fields> = Fields & { readonly requestId: typeof requestId }

type Annotations<Self, S extends Schema.Constraint> = Schema.Annotations.Declaration<Self, readonly [S]> & {
  readonly httpApiStatus: number
}

/** The definition of an error that a client receives: a tagged error with the id of its request. */
export const ApiError =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    annotations: Annotations<Self, Schema.TaggedStruct<Tag, WithRequestId<Fields>>>
  ) =>
    Schema.TaggedError<Self>()<Tag, WithRequestId<Fields>>(tag, { ...fields, requestId }, annotations)

/** The status and the JSON of an error that a client receives, with the id of its request; `undefined` for any other value. */
export const encodeApiError = (
  error: unknown,
  requestId: string
): { readonly status: number; readonly json: object } | undefined => {
  const schema: unknown = typeof error === "object" && error !== null ? error.constructor : undefined
  if (!Schema.isSchema(schema)) return undefined
  const status = Schema.resolveAnnotations(schema)?.["httpApiStatus"]
  if (typeof status !== "number") return undefined
  const encoded = Schema.encodeUnknownSync(codecOf(schema))(error)
  return { status, json: { ...objectOf(encoded), requestId } }
}
