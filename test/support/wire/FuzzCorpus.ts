import { Arbitrary, Effect, Schema, SchemaAST, Struct } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/api/Api.ts"
import { type Field, filterableOf } from "../../../src/domain/query/FilterFields.ts"

/**
 * An endpoint with its query parameters, and queries and bodies generated from its schemas: valid ones, and bodies that
 * only have the right shape.
 */
export interface Target {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<string>
  readonly queries: ReadonlyArray<Readonly<Record<string, string>>>
  readonly bodies: ReadonlyArray<string>
  /** The filterable fields. */
  readonly fields: ReadonlyArray<Field>
}

/** Encoded sample values of a schema. */
const encodedOf = Effect.fnUntraced(function* (schema: Schema.Codec<unknown, unknown>, count: number, seed: number) {
  const encode = Schema.encodeUnknownExit(Schema.toCodecJson(schema))
  const values = yield* Arbitrary.sampleEffect(Arbitrary.schema(schema), { count, seed })
  return values.flatMap((value) => {
    const exit = encode(value)
    return exit._tag === "Success" ? [exit.value] : []
  })
})

const orNone = <A, R>(sample: Effect.Effect<ReadonlyArray<A>, Arbitrary.SampleError, R>) =>
  Effect.catchTag(sample, "SampleError", () => Effect.succeed<ReadonlyArray<A>>([]))

const bodiesOf = Effect.fnUntraced(function* (payload: Schema.Top | undefined, count: number, seed: number) {
  if (payload === undefined) return []
  const schema = payload as Schema.Codec<unknown, unknown>
  // No text is a timestamp or a URL by chance, so a body that requires one is generated in one of the two forms at most.
  const shaped = yield* Arbitrary.sampleEffect(Arbitrary.schema(Schema.toEncoded(schema)), { count, seed }).pipe(orNone)
  const encoded = yield* encodedOf(schema, count, seed).pipe(orNone)
  return [...encoded, ...shaped].map((value) => JSON.stringify(value))
})

/** The filterable fields of the records of a page, from the schema of the response. */
const filterFields = (success: Schema.Top | undefined): ReadonlyArray<Field> => {
  const page = success === undefined ? undefined : SchemaAST.toEncoded(success.ast)
  const data = page !== undefined && SchemaAST.isObjects(page) ? page.propertySignatures : []
  const list = data.find(({ name }) => name === "data")?.type
  return list !== undefined && SchemaAST.isArrays(list) ? filterableOf(Schema.make(list.rest[0]!)) : []
}

/** The queries without what makes the service wait for an event. */
const withoutWait = (queries: Target["queries"]): Target["queries"] =>
  queries.map((query) => Struct.omit(query, ["wait"]))

/** Every endpoint of the definition with `count` queries and `count` bodies of each kind. */
export const targets = Effect.fnUntraced(function* (count: number, seed: number) {
  const endpoints: Array<Effect.Effect<Target, Arbitrary.SampleError>> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, successes }) => {
      // A stream has no end.
      if (endpoint.path.endsWith("/stream")) return
      const querySchema = endpoint.query as Schema.Codec<unknown, unknown> | undefined
      const ast = querySchema?.ast
      const query =
        ast !== undefined && SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
      const payload = [...endpoint.payload.values()].flatMap(({ schemas }) => [...schemas])[0]
      const target = Effect.gen(function* () {
        return {
          method: endpoint.method,
          path: endpoint.path.replace(/(.)\/$/, "$1"),
          query,
          queries:
            querySchema === undefined
              ? []
              : withoutWait((yield* encodedOf(querySchema, count, seed)) as Target["queries"]),
          bodies: yield* bodiesOf(payload, count, seed),
          fields: query.includes("filter") ? filterFields([...successes.values()][0]?.[0]) : []
        }
      })
      endpoints.push(target)
    }
  })
  return yield* Effect.all(endpoints)
})

/** Tokens inserted into a text to break it. */
export const tokens: ReadonlyArray<string> = [
  [`"`, `'`, "{", "}", "[", "]", ",", ":", "\\", "\\u0000", "\\ud800", "\\udfff", "null", "true", "-0", "1e999"],
  ["1e-400", "9007199254740993", "0x10", "NaN", `"__proto__":{},`, `"constructor":1,`, "\u0000", "\uFEFF", "\u202E"],
  ["😀", "e\u0301", "İ", "ß", "%00", "%", "%ZZ", "..", "/", ";", "--", "$1", "';drop table locations;--", "\r\n", "\t"],
  ["a".repeat(3000), "[".repeat(2000)]
].flat()

/** Valid and invalid query values. */
export const values: ReadonlyArray<string> = [
  ["1", "25", "500", "501", "0", "-1", "1e9", "99999999", "100000000", "999999999999999999999", "", "abc", "٣", "1.5"],
  ["name", "address.city", "createdAt", "editedAt", "lastUsedAt", "identifier", "__proto__", "toString", "asc", "DESC"],
  ["name:contains:a", "NAME:EQUALS:x", 'name:equals:"a,b"', "name:startsWith:%", "name:endsWith:_", "name:contains:\\"],
  ["createdAt:gte:2026-01-01", "createdAt:lt:2026-02-30", "createdAt:equals:2026-01-01T00:00:00.000Z", "uuid:equals:x"],
  [
    "coordinates.latitude:gt:1e999",
    "coordinates.latitude:lte:-0.5",
    "coordinates.latitude:equals:1e-400",
    "a:b",
    ":::"
  ],
  ["postalCodes:contains:1", "postalCodes:equals:\u0000", "name:equals:\ud800", "permissions:equals:read:locations"],
  [
    "name:equals:a,".repeat(25),
    `name:contains:${"a".repeat(1990)}`,
    "createdAt:gt:9999-12-31",
    "createdAt:lt:0000-01-01"
  ],
  ["expiresAt:gte:+275760-09-13", "name:contains:'", "name:contains:\u202E", "locale:equals:nl", "%", "%zz", "\u0000"]
].flat()

const dates = ["2026-01-31", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59.999Z", "2026-11-21T00:00:00.000Z"]

/** Valid filter values by the kind of field. */
export const filterValues: Readonly<Record<Field["kind"], ReadonlyArray<string>>> = {
  string: [
    "a",
    "Victim",
    "victim-1",
    "İ",
    "%",
    "_",
    "\\",
    "",
    '"',
    "a,b:c",
    "🥐",
    "e\u0301",
    "'",
    "en",
    "x".repeat(500)
  ],
  enum: ["a", "", "ACTIVE"],
  uuid: ["00000000-0000-0000-0000-000000000000"],
  number: ["0", "-0", "1", "52.1", "1e300", "-1E-400", "9007199254740993"],
  boolean: ["true", "false"],
  date: dates,
  day: dates
}

/** Valid and invalid request headers. */
export const headers: ReadonlyArray<readonly [string, string]> = [
  ...["*/*", "text/html", "application/xml;q=0.9", "\u00ff"].map((value) => ["accept", value] as const),
  ...[
    "application/json; charset=utf-16",
    "text/plain",
    "application/json;;",
    "",
    "application/jsonp",
    "multipart/form-data"
  ].map((value) => ["content-type", value] as const),
  ...["gzip", "br", "identity"].map((value) => ["content-encoding", value] as const),
  ...["*", `"a"`, `W/"a"`, `"`, ",", "a, b"].flatMap((value) => [
    ["if-match", value] as const,
    ["if-none-match", value] as const
  ]),
  ...["", "a b", "a".repeat(200), "\u00e9", "ok-1"].map((value) => ["x-request-id", value] as const),
  ...[
    "",
    "Bearer",
    "Bearer ",
    "ApiKey x",
    "wp_",
    `wp_${"0".repeat(22)}_${"0".repeat(49)}`,
    "\u00ff",
    "a".repeat(9000)
  ].map((value) => ["authorization", value] as const),
  ["range", "bytes=0-1"],
  ["traceparent", "00-zzz-1-1"],
  ["b3", "0-0-0"],
  ["x-http-method-override", "DELETE"],
  ["x-forwarded-for", "' or 1=1"],
  ["cookie", "a=b; __proto__=c"],
  ["origin", "null"]
]
