import Fastify, { type FastifyError } from "fastify"
import postgres from "postgres"
import { ServiceError } from "./errors.ts"
import { equip, options } from "./equipment.ts"
import { makeKeys } from "./keys.ts"
import { type Body, type ListRequest, makeLocations } from "./locations.ts"
import { createBodies, createBody, listQuery, one, page, params, patchBody, written, writtenAll } from "./schemas.ts"

// The service that Waypost is compared with: the same operations on the same tables, as an engineer who knows Fastify and
// PostgreSQL would write them by hand. It has only three filter fields. Equipped, it has entity tags, request ids, a line of log per
// write, limits on time and requests in flight, metrics, and the warning about identifiers that differ only by case.
const { BENCH_EQUIPPED, BENCH_POOL = "10", BENCH_PORT = "3001", BENCH_SOCKET = "", BENCH_USER = "" } = process.env
const isEquipped = BENCH_EQUIPPED !== undefined

const sql = postgres({
  path: BENCH_SOCKET,
  username: BENCH_USER,
  database: "postgres",
  max: Number(BENCH_POOL),
  connection: { application_name: "bench-fastify", statement_timeout: 5000 }
})

const app = Fastify({
  ...(isEquipped ? options : { logger: false }),
  // Waypost rejects unknown members; Fastify's default of removing them would be another contract.
  ajv: { customOptions: { removeAdditional: false } }
})

if (isEquipped) await equip(app)

const authorize = makeKeys(sql)
const locations = makeLocations(sql, isEquipped)
const allows = (permission: string) => ({
  onRequest: ({ headers }: { readonly headers: { readonly authorization?: string | undefined } }) =>
    authorize(headers.authorization, permission)
})

app.setErrorHandler((error: FastifyError | ServiceError, _request, reply) => {
  if (error instanceof ServiceError) {
    return reply.code(error.statusCode).send({ _tag: error.tag, message: error.message })
  }
  if ((error.statusCode ?? 500) < 500) {
    return reply.code(400).send({ _tag: "InvalidRequestError", message: error.message, issues: error.validation ?? [] })
  }
  process.stderr.write(`${error.stack}\n`)
  return reply.code(500).send({ _tag: "InternalServerError", message: "Something went wrong on our side" })
})

app.get<{ Params: { uuid: string } }>(
  "/v1/locations/:uuid",
  { ...allows("read:locations"), schema: { params, response: { 200: one } } },
  ({ params: { uuid } }) => locations.get(uuid.toLowerCase())
)

app.get<{ Querystring: ListRequest }>(
  "/v1/locations",
  { ...allows("read:locations"), schema: { querystring: listQuery, response: { 200: page } } },
  ({ query }) => locations.list(query)
)

app.post<{ Body: Body }>(
  "/v1/locations",
  { ...allows("create:locations"), schema: { body: createBody, response: { 201: written } } },
  async ({ body }, reply) => {
    reply.code(201)
    const { similar, ...answer } = await locations.create(body)
    if (similar !== undefined) reply.header("warning", `299 - "Similar identifier: ${encodeURIComponent(similar)}"`)
    return answer
  }
)

app.post<{ Body: ReadonlyArray<Body> }>(
  "/v1/locations/array",
  { ...allows("create:locations"), schema: { body: createBodies, response: { 201: writtenAll } } },
  ({ body }, reply) => {
    reply.code(201)
    return locations.createAll(body)
  }
)

app.patch<{ Body: Body; Params: { uuid: string } }>(
  "/v1/locations/:uuid",
  { ...allows("update:locations"), schema: { params, body: patchBody, response: { 200: written } } },
  ({ body, params: { uuid } }) => locations.update(uuid.toLowerCase(), body)
)

process.once("SIGTERM", () => {
  void app
    .close()
    .then(() => sql.end({ timeout: 2 }))
    .then(() => process.exit(0))
})

await app.listen({ host: "127.0.0.1", port: Number(BENCH_PORT) })
