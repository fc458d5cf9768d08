import assert from "node:assert/strict"
import type { Sql } from "postgres"
import { filterPath, listPath, locationPath, newLocation, type Rows } from "../../test/support/Operations.ts"
import type { Service } from "../../test/support/Services.ts"

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const ask = async (service: Service, key: string, path: string, init: RequestInit = {}): Promise<Answer> => {
  const headers = { authorization: key, ...(init.body === undefined ? {} : { "content-type": "application/json" }) }
  const response = await fetch(service.url + path, { ...init, headers })
  return { status: response.status, body: (await response.json()) as Answer["body"] }
}

const send = (method: string, body: unknown): RequestInit => ({ method, body: JSON.stringify(body) })

/** Fails unless all services return the same responses. */
export const sameAnswers = async (services: ReadonlyArray<Service>, key: string, { brands, uuids }: Rows) => {
  const paths = [
    ...uuids.slice(0, 5).map(locationPath),
    listPath,
    "/v1/locations?limit=10&page=3&sortBy=name&sortOrder=asc",
    ...brands.slice(0, 3).map(filterPath)
  ]
  for (const path of paths) {
    const [first, ...others] = await Promise.all(services.map((service) => ask(service, key, path)))
    assert.equal(first!.status, 200, path)
    assert.notDeepEqual(first!.body["data"], [], `${path} finds nothing`)
    for (const other of others) assert.deepEqual(other, first, path)
  }
}

/** Compares status and kind of error responses, not their messages. */
export const sameErrors = async (services: ReadonlyArray<Service>, key: string, uuid: string) => {
  const { body } = await ask(
    services[0]!,
    key,
    "/v1/api-keys",
    send("POST", { name: "Reader", permissions: ["read:locations"] })
  )
  const reader = (body["data"] as { readonly key: string }).key
  const unknown = "00000000-0000-7000-8000-000000000000"
  const cases: ReadonlyArray<readonly [key: string, path: string, init: RequestInit | undefined, answer: string]> = [
    ["nonsense", locationPath(uuid), undefined, "401 UnauthorizedError"],
    [`${key.slice(0, 30)}${key.slice(30).toLowerCase()}`, locationPath(uuid), undefined, "401 UnauthorizedError"],
    [reader, locationPath(uuid), send("PATCH", {}), "403 MissingPermissionsError"],
    [key, locationPath(unknown), undefined, "404 LocationNotFoundError"],
    [key, locationPath(unknown), send("PATCH", { name: "None" }), "404 LocationNotFoundError"],
    [key, locationPath(uuid), send("PATCH", { name: "" }), "400 InvalidRequestError"],
    [key, locationPath(uuid), send("PATCH", { nmae: "Typing error" }), "400 InvalidRequestError"],
    [key, locationPath(uuid), send("PATCH", { address: { countryCode: "XX" } }), "400 InvalidRequestError"],
    [key, "/v1/locations", send("POST", { name: "Without identifier" }), "400 InvalidRequestError"],
    [key, "/v1/locations?limit=501", undefined, "400 InvalidRequestError"],
    [key, "/v1/locations", send("POST", newLocation("BR-00000001")), "400 DuplicateIdentifierError"]
  ]
  for (const service of services) {
    for (const [key, path, init, expected] of cases) {
      const { body, status } = await ask(service, key, path, init)
      assert.equal(`${status} ${String(body["_tag"])}`, expected, `${service.name} ${init?.method ?? "GET"} ${path}`)
    }
  }
}

const merge = {
  name: "Renamed",
  postalCodes: ["1000 AA"],
  contact: { phone: null, mobile: "+31 6 1234 5678" },
  invoice: { name: null, address: { city: "Zeist", countryCode: null } },
  legal: { address: { city: "Zeist" } },
  coordinates: null,
  other: { extraDna1: null }
}

/** Fails unless a location that is created and patched through each service reads the same. */
export const sameWrites = async (services: ReadonlyArray<Service>, key: string, sql: Sql) => {
  const written = await Promise.all(
    services.map(async (service, index) => {
      const location = { ...newLocation("verify"), identifier: `verify-${index}` }
      const created = await ask(service, key, "/v1/locations", send("POST", location))
      assert.equal(created.status, 201, service.name)
      const path = locationPath((created.body["data"] as { readonly uuid: string }).uuid)
      const read = async () => (await ask(service, key, path)).body["data"] as Record<string, unknown>
      const before = await read()
      assert.equal((await ask(service, key, path, send("PATCH", merge))).status, 200, service.name)
      const after = await read()
      assert.notEqual(after["editedAt"], before["editedAt"], `${service.name} does not update editedAt`)
      // The same patch again changes nothing, so it must not write.
      assert.equal((await ask(service, key, path, send("PATCH", merge))).status, 200, service.name)
      assert.deepEqual(await read(), after, `${service.name} writes a patch that changes nothing`)
      return [before, after].map(({ createdAt, editedAt, identifier, uuid, ...rest }) => {
        assert.ok(createdAt && editedAt && identifier && /^[\da-f]{8}-[\da-f]{4}-7/.test(String(uuid)), service.name)
        return rest
      })
    })
  )
  for (const other of written.slice(1)) assert.deepEqual(other, written[0])
  await sql`delete from locations where identifier like 'verify-%'`
}

/** Fails unless the maintained total is that of the rows. */
export const exactTotal = async (sql: Sql) => {
  const [total] = await sql`select sum(delta)::int = (select count(*) from locations) as exact from row_counts
    where relation = 'locations'`
  assert.ok(total?.["exact"], "row_counts does not hold the exact total")
}
