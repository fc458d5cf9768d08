import type { Schema } from "effect"
import type { HttpApi, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import type { Api } from "../../api/Api.ts"
import type { FilterOf } from "../Filters.ts"
import type { Plain } from "../Plain.ts"
import type { Call, CallOptions } from "./Call.ts"
import type { AllRecords } from "./AllRecords.ts"
import type { ErrorOf } from "./Errors.ts"
import type { PathOf, Selected } from "./Selected.ts"

/** An operation of the definition. */
interface Endpoint {
  readonly method: string
  readonly path: string
  readonly "~Query": Schema.Constraint
  readonly "~Payload": Schema.Constraint
  readonly "~Success": Schema.Constraint
  readonly "~Error": Schema.Constraint
  readonly "~Middleware": unknown
}

type Groups = typeof Api extends HttpApi.HttpApi<string, infer G extends HttpApiGroup.Constraint> ? G : never
type Group<Name> = Extract<Groups, { readonly identifier: Name }>["endpoints"]

/** The JSON of a schema: the definition wraps its schemas in codecs that have lost it. */
type Wire<S> = S extends { readonly schema: infer Inner extends Schema.Constraint }
  ? number extends Inner["Encoded"]
    ? Plain<Inner["Type"]>
    : Inner["Encoded"]
  : S extends Schema.Constraint
    ? S["Encoded"]
    : never

type Decoded<S> = S extends Schema.Constraint ? S["Type"] : never
type IsNever<T> = [T] extends [never] ? true : false

interface Envelope {
  readonly data: unknown
}
interface PageEnvelope extends Envelope {
  readonly pagination: unknown
}

interface CountedEnvelope extends PageEnvelope {
  readonly counts: unknown
}

interface CursorEnvelope extends Envelope {
  readonly cursor: string
  readonly more: boolean
}

interface BulkEnvelope extends Envelope {
  readonly applied: boolean
  readonly counts: unknown
}

/** What a call returns: the record, the answer to a bulk request, the page of a list, or a page of the change log. */
type Answer<W> = W extends CountedEnvelope
  ? { readonly data: W["data"]; readonly counts: W["counts"]; readonly pagination: W["pagination"] }
  : W extends PageEnvelope
    ? { readonly data: W["data"]; readonly pagination: W["pagination"] }
    : W extends CursorEnvelope
      ? { readonly data: W["data"]; readonly cursor: string; readonly more: boolean }
      : W extends BulkEnvelope
        ? { readonly data: W["data"]; readonly applied: boolean; readonly counts: W["counts"] }
        : W extends Envelope
          ? W["data"]
          : never

/** A file: NDJSON, or its records. */
type File = string | Uint8Array<ArrayBuffer> | ReadonlyArray<object>

type Element<T> = T extends ReadonlyArray<infer A> ? A : never
/** The records of a page, as JSON. */
type Row<E extends Endpoint> = Wire<E["~Success"]> extends PageEnvelope ? Element<Wire<E["~Success"]>["data"]> : never
/** The records of a page, decoded: only there do times differ from text. */
type DecodedRow<E extends Endpoint> =
  Decoded<E["~Success"]> extends Envelope ? Element<Decoded<E["~Success"]>["data"]> : never

type PathArguments<P extends string> = P extends `${string}/:${string}/${infer Rest}`
  ? [uuid: string, ...PathArguments<`/${Rest}`>]
  : P extends `${string}/:${string}`
    ? [uuid: string]
    : []

type BodyArguments<E extends Endpoint> =
  IsNever<E["~Payload"]> extends true
    ? []
    : [body: Decoded<E["~Payload"]> extends Uint8Array ? File : Wire<E["~Payload"]>]

/** A parameter with a form of its own, such as `near`, is text. */
type QueryValue<D, Text> =
  Exclude<D, undefined> extends string | number | boolean | ReadonlyArray<unknown> ? Plain<D> : Text

type QueryOf<E extends Endpoint> = {
  readonly [K in keyof Decoded<E["~Query"]> as Exclude<K, "filter" | "fields">]: QueryValue<
    Decoded<E["~Query"]>[K],
    Wire<E["~Query"]>[K & keyof Wire<E["~Query"]>]
  >
} & ("filter" extends keyof Decoded<E["~Query"]>
  ? { readonly filter?: string | FilterOf<DecodedRow<E>> | undefined }
  : unknown)

/** A query can be left out if it has no required parameter. */
type QueryArguments<E extends Endpoint> =
  IsNever<E["~Query"]> extends true ? [] : {} extends QueryOf<E> ? [query?: QueryOf<E>] : [query: QueryOf<E>]

type Failure<E extends Endpoint> = ErrorOf<
  Wire<E["~Error"]> | HttpApiMiddleware.ErrorSchema<E["~Middleware"]>["Encoded"]
>

type PlainMethod<E extends Endpoint> = (
  ...args: [...PathArguments<E["path"]>, ...BodyArguments<E>, ...QueryArguments<E>, options?: CallOptions]
) => Call<Answer<Wire<E["~Success"]>>, Failure<E>>

/** The record of an answer, or those of a page. */
type RecordIn<W> = W extends PageEnvelope ? Element<W["data"]> : W extends Envelope ? W["data"] : never

/** What a read returns when `fields` selects members of its records. */
type SelectedAnswer<W, Path extends string> = W extends PageEnvelope
  ? {
      readonly data: ReadonlyArray<Selected<Element<W["data"]>, Path>>
      readonly pagination: W["pagination"]
    }
  : Selected<RecordIn<W>, Path>

/** The members that an answer has, by their dotted paths: `["name", "address.city"]`. */
interface Fields<Path extends string> {
  readonly fields: ReadonlyArray<Path>
}

/** A read with `fields` returns what it asks for; a read without, the whole record. */
interface ReadMethod<E extends Endpoint> {
  <const Path extends PathOf<RecordIn<Wire<E["~Success"]>>>>(
    ...args: [...PathArguments<E["path"]>, query: QueryOf<E> & Fields<Path>, options?: CallOptions]
  ): Call<SelectedAnswer<Wire<E["~Success"]>, Path>, Failure<E>>
  (
    ...args: [...PathArguments<E["path"]>, ...QueryArguments<E>, options?: CallOptions]
  ): Call<Answer<Wire<E["~Success"]>>, Failure<E>>
}

type HasFields<E extends Endpoint> =
  IsNever<E["~Query"]> extends true ? false : "fields" extends keyof Decoded<E["~Query"]> ? true : false

type Method<E extends Endpoint> = HasFields<E> extends true ? ReadMethod<E> : PlainMethod<E>

/** `list` has `all`, `listUsers` has `allUsers`. */
type AllName<Name> = Name extends `list${infer Rest}` ? `all${Rest}` : never

type AllQuery<E extends Endpoint> = Omit<QueryOf<E>, "limit" | "page" | "after" | "total" | "sortBy" | "sortOrder">

interface AllMethod<E extends Endpoint> {
  <const Path extends PathOf<Row<E>>>(
    ...args: [
      ...PathArguments<E["path"]>,
      query: AllQuery<E> & Fields<HasFields<E> extends true ? Path : never>,
      options?: Pick<CallOptions, "signal">
    ]
  ): AllRecords<Selected<Row<E>, Path>>
  (
    ...args: [...PathArguments<E["path"]>, query?: AllQuery<E>, options?: Pick<CallOptions, "signal">]
  ): AllRecords<Row<E>>
}

/** The pages of a delta from a cursor on, or from its begin, to its end. */
type DeltaMethod<E extends Endpoint> = (
  after?: string,
  options?: Pick<CallOptions, "signal">
) => AsyncIterable<Answer<Wire<E["~Success"]>>>

/** The names of the operations whose answer is JSON. */
type Callable<Endpoints> = {
  [Name in keyof Endpoints]: Endpoints[Name] extends { readonly "~Success": { readonly mode: "sse" } } ? never : Name
}[keyof Endpoints]

type Methods<Endpoints> = {
  readonly [Name in Callable<Endpoints>]: Endpoints[Name] extends Endpoint ? Method<Endpoints[Name]> : never
} & {
  readonly [
    Name in keyof Endpoints as Endpoints[Name] extends Endpoint
      ? IsNever<Row<Endpoints[Name]>> extends true
        ? never
        : AllName<Name>
      : never
  ]: Endpoints[Name] extends Endpoint ? AllMethod<Endpoints[Name]> : never
} & {
  readonly [Name in keyof Endpoints as Name extends "delta" ? "deltaPages" : never]: Endpoints[Name] extends Endpoint
    ? DeltaMethod<Endpoints[Name]>
    : never
}

/** The operations of the definition, as methods that return promises. */
export type Operations = { readonly [Name in Groups["identifier"]]: Methods<Group<Name>> }

type AnyEndpoint = HttpApiGroup.Endpoints<Groups>

/** An error that the service can answer with. */
export type ServiceError = AnyEndpoint extends infer E
  ? E extends Endpoint
    ? Wire<E["~Error"]> | HttpApiMiddleware.ErrorSchema<E["~Middleware"]>["Encoded"]
    : never
  : never

/** A path without the slash at its end, which only the type has. */
type Trimmed<Path extends string> = Path extends `${infer P}/` ? P : Path

type Flags<E extends Endpoint> = `${IsNever<E["~Payload"]> extends true ? "" : " body"}${IsNever<
  E["~Query"]
> extends true
  ? ""
  : IsNever<Row<E>> extends true
    ? " query"
    : " pages"}`

/**
 * How each operation is requested: method, path, whether it takes a body or a query, which can ask for
 * a page, and whether it is repeated with an `Idempotency-Key`.
 */
export type Routes = {
  readonly [Name in Groups["identifier"]]: {
    readonly [Operation in Callable<Group<Name>>]: Group<Name>[Operation] extends Endpoint
      ? `${Group<Name>[Operation]["method"]} ${Trimmed<Group<Name>[Operation]["path"]>}${Flags<Group<Name>[Operation]>}${"" | " repeatable"}`
      : never
  }
}
