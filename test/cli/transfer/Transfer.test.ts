import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Failures from "../../../src/cli/Failures.ts"
import * as Process from "../../support/Process.ts"
import { start, waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"
import { until } from "../../support/Until.ts"
import * as Responses from "../../client/Responses.ts"

let service: Served.Served
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  folder = service.folder
  const database = { DATABASE_URL: service.databaseUrl, DATA_DIR: folder }
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key, ...database }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const file = (name: string, content: string) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const get = async (path: string) => {
  const response = await fetch(`${service.url}${path}`, { headers: { authorization: env["WAYPOST_API_KEY"]! } })
  return (await response.json()) as { readonly data: ReadonlyArray<Record<string, unknown>> }
}

const edgeCases = [
  { name: '=HYPERLINK("x")', identifier: "N-1", other: { extraDna1: "line one\nline two, with a comma" } },
  {
    name: 'Bakker "De Hoek"; Utrecht',
    identifier: "N-2",
    postalCodes: ["3511 AB", "3512"],
    address: { city: "Utrecht" }
  },
  { name: "İstanbul Σίσυφος 🥐", identifier: "N-3", coordinates: { latitude: -33.8688197, longitude: 151.2092955 } },
  { name: "-1+1", identifier: "N-4", contact: { email: "a@b.example", phone: "+31 30 123" }, locale: "nl-NL" }
]

describe("waypost import and export", () => {
  it("an import creates new records, updates changed ones and skips unchanged ones", async () => {
    const path = file("first.ndjson", edgeCases.map((row) => JSON.stringify(row)).join("\n"))
    assert.include((await waypost(["import", "locations", path], env)).out, "4 created")
    assert.include((await waypost(["import", "locations", path], env)).out, "4 unchanged")
    const changed = file(
      "second.json",
      JSON.stringify([
        { ...edgeCases[1], name: "Renamed" },
        { name: "New", identifier: "N-5" }
      ])
    )
    const { code, out } = await waypost(["import", "locations", changed], env)
    assert.include(out, "1 created, 1 updated")
    assert.strictEqual(code, 0)
    const { data } = await get("/v1/locations?filter=identifier:equals:N-2")
    assert.deepInclude(data[0], { name: "Renamed", postalCodes: ["3511 AB", "3512"], address: { city: "Utrecht" } })
  })

  it.each(["csv", "json", "ndjson"])("importing an export as %s changes nothing", async (format) => {
    const path = join(folder, `export.${format}`)
    assert.strictEqual((await waypost(["export", "locations", path], env)).code, 0)
    const before = await get("/v1/locations?limit=500")
    const { code, err, out } = await waypost(["import", "locations", path], env)
    assert.strictEqual(code, 0, err)
    assert.match(out, /locations: \d+ unchanged/)
    assert.deepStrictEqual(await get("/v1/locations?limit=500"), before)
  })

  it("an import writes refused rows with line and reasons to a file, imports the others, and exits with 1", async () => {
    const path = file(
      "refused.csv",
      "name,identifier,address.countryCode,coordinates.latitude\nGood,R-1,NL,\nBad,R-2,XX,200\n,R-3,,\n"
    )
    const { code, out } = await waypost(["import", "locations", path], env)
    assert.strictEqual(code, 1)
    assert.include(out, "1 created, 2 refused")
    assert.strictEqual(
      readFileSync(`${path}.refused.csv`, "utf8"),
      "\uFEFFname,identifier,address.countryCode,coordinates.latitude,_reasons\r\n" +
        "Bad,R-2,XX,200,line 3: address.countryCode: Expected an ISO 3166-1 alpha-2 country code such as NL; " +
        "coordinates.latitude: Expected a number from -90 to 90\r\n" +
        ",R-3,,,line 4: name: Required\r\n"
    )
  })

  it("an import with an unknown column suggests the nearest name and sends nothing", async () => {
    const path = file("column.csv", "name,identifier,adress.city\nA,C-1,Utrecht\n")
    const { code, err } = await waypost(["import", "locations", path], env)
    assert.strictEqual(code, 1)
    assert.include(err, "address.city")
    assert.lengthOf((await get("/v1/locations?filter=identifier:equals:C-1")).data, 0)
    assert.isFalse(existsSync(`${path}.refused.csv`))
  })

  it.each([
    ["csv", ""],
    ["csv", "name,identifier\n"],
    ["json", "[]"],
    ["ndjson", "\n"]
  ])("an import of %s that has no rows, %j, says so and exits with 1", async (format, content) => {
    const path = file(`nothing.${format}`, content)
    const { code, err, out } = await waypost(["import", "locations", path], env)
    assert.deepStrictEqual([code, out], [1, ""])
    assert.include(err, `${path} has no rows, so nothing was imported`)
  })

  it("of several rows with one identifier the first is imported, and the others are rejected with both line numbers", async () => {
    const rows = Array.from({ length: 40 }, (_, index) =>
      JSON.stringify({ name: `Version ${index}`, identifier: index % 2 === 0 ? "TWICE" : " TWICE " })
    )
    const refused = join(folder, "twice.ndjson")
    const args = ["import", "locations", "-", "--format", "ndjson", "--refused", refused]
    const { code, out } = await waypost(args, env, rows.join("\n"))
    assert.strictEqual(code, 1)
    assert.include(out, "1 created, 39 refused")
    assert.strictEqual((await get("/v1/locations?filter=identifier:equals:TWICE")).data[0]!["name"], "Version 0")
    const lines = readFileSync(refused, "utf8").trim().split("\n")
    assert.include(lines.join("\n"), 'line 40 has the same identifier as line 1: \\"TWICE\\"')
  })

  it("users and groups reference members by name, and importing their exports changes nothing", async () => {
    const users = file("users.csv", "username,email,locations\nanna,anna@x.example,N-1;N-2\nbram,bram@x.example,\n")
    const groups = file(
      "groups.json",
      JSON.stringify([{ name: "North", users: ["anna", "bram"], locations: ["N-3"] }, { name: "South" }])
    )
    assert.include((await waypost(["import", "users", users], env)).out, "2 created")
    assert.include((await waypost(["import", "groups", groups], env)).out, "2 created")
    const north = (await get("/v1/groups?filter=name:equals:North")).data[0]!
    assert.deepInclude(north, { userCount: 2, locationCount: 1 })
    for (const resource of ["users", "groups"]) {
      const path = join(folder, `${resource}-export.csv`)
      assert.strictEqual((await waypost(["export", resource, path], env)).code, 0)
      assert.match((await waypost(["import", resource, path], env)).out, new RegExp(`${resource}: 2 unchanged`))
    }
    const unknown = file("unknown.ndjson", JSON.stringify({ name: "East", users: ["unknown"] }))
    assert.strictEqual((await waypost(["import", "groups", unknown], env)).code, 1)
    assert.include(readFileSync(`${unknown}.refused.ndjson`, "utf8"), 'No user has the username \\"unknown\\"')
  })

  it("exports and files of refused rows are readable by their owner only, also where a file existed", async () => {
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
    const rows = JSON.stringify({ name: "No identifier" })
    for (const name of ["new", "old"]) {
      const [exported, imported] = [join(folder, `${name}-users.csv`), file(`${name}-rows.ndjson`, rows)]
      const refused = `${imported}.refused.ndjson`
      if (name === "old") for (const path of [exported, refused]) writeFileSync(path, "x")
      assert.strictEqual((await waypost(["export", "users", exported], env)).code, 0)
      assert.strictEqual((await waypost(["import", "locations", imported], env)).code, 1)
      assert.deepStrictEqual([mode(exported), mode(refused)], ["600", "600"])
      assert.match(readFileSync(refused, "utf8"), /^\{.*\}\n$/)
    }
  })

  it("an export to a folder that does not exist, and an import from one, name the folder", async () => {
    for (const command of ["export", "import"]) {
      const { code, err } = await waypost([command, "locations", join(folder, "none/x.csv")], env)
      assert.deepStrictEqual([code, err.trim()], [1, `The folder ${join(folder, "none")} does not exist`])
    }
  })

  it("an export to a folder that exists says so and leaves no file next to the folder", async () => {
    const target = join(folder, "exports")
    mkdirSync(target)
    const { code, err } = await waypost(["export", "locations", target, "--format", "csv"], env)
    assert.deepStrictEqual([code, err], [1, `${target} is a folder; name a file\n`])
    assert.isEmpty(readdirSync(folder).filter((name) => name.startsWith("exports.")))
  })

  it("a file that the system cannot read or write is named with what the system reports", async () => {
    const rejected = file("rejected.ndjson", '{"name": 1}\n')
    const importing = await waypost(["import", "locations", rejected, "--refused", "/dev/full"], env)
    assert.include(importing.err, "/dev/full: ENOSPC: no space left on device, write\n")
    const reading = await waypost(["import", "locations", folder, "--format", "csv"], env)
    assert.include(reading.err, `${folder}: EISDIR: illegal operation on a directory, read\n`)
    const mapping = await waypost(["import", "locations", file("d.csv", "name\nA\n"), "--map", folder], env)
    assert.include(mapping.err, `${folder}: EISDIR: illegal operation on a directory, read\n`)
    const exporting = await waypost(["export", "locations", join(rejected, "x.csv")], env)
    assert.include(exporting.err, "ENOTDIR: not a directory, ")
    assert.include(exporting.err, join(rejected, "x.csv"))
    assert.deepStrictEqual([importing.code, reading.code, mapping.code, exporting.code], [1, 1, 1, 1])
  })

  it("an invalid key or an unreachable URL is reported in one line", async () => {
    const wrongKey = await waypost(["export", "locations", "-", "--format", "json"], {
      ...env,
      WAYPOST_API_KEY: "wp_x"
    })
    assert.strictEqual(wrongKey.code, 1)
    assert.include(wrongKey.err, "does not hold an API key")
    const unreachable = await start(["export", "locations", "-", "--format", "json"], {
      ...env,
      WAYPOST_URL: "http://127.0.0.1:9"
    }).result
    assert.strictEqual(unreachable.code, 1)
    assert.match(unreachable.err, /^[^\n]*http:\/\/127\.0\.0\.1:9[^\n]*\n$/)
  })

  it("a certificate that is not trusted or not valid is reported with what helps, and is not tried again", async () => {
    for (const [code, message] of [
      [
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). Set NODE_EXTRA_CA_CERTS in the environment"
      ],
      ["CERT_HAS_EXPIRED", "is not valid (CERT_HAS_EXPIRED). Replace it"]
    ] as const) {
      const request = HttpClientRequest.get("https://waypost.example/v1/me")
      const cause = Object.assign(new Error("fetch failed"), { cause: Object.assign(new Error(code), { code }) })
      const reason = new HttpClientError.TransportError({ request, cause })
      let attempts = 0
      const failing = Effect.suspend(() => {
        attempts++
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      })
      const failure = await Effect.runPromise(Effect.flip(Failures.persistently(failing)))
      assert.include(Failures.describe(failure), `The certificate of waypost.example ${message}`)
      assert.strictEqual(attempts, 1)
      assert.isTrue(Failures.isTemporary(failure))
    }
  })

  it("a wrong address is reported with what is wrong with it", async () => {
    const { host } = new URL(service.url)
    const errorAt = async (url: string) => (await waypost(["list", "locations"], { ...env, WAYPOST_URL: url })).err
    assert.include(await errorAt(`https://${host}`), `${host} speaks http, not https`)
    assert.include(await errorAt("http://waypost.invalid"), "The host waypost.invalid is unknown")
    assert.include(await errorAt("http://127.0.0.1:1"), "The connection to http://127.0.0.1:1 failed: bad port")
    assert.strictEqual(
      await errorAt(`http://user:word@${host}`),
      "The URL of the service has a user name or a password, with which no request is sent; the key is in WAYPOST_API_KEY\n"
    )
    for (const malformed of [`me:word@${host}`, `https://me:word@${host}9`, `HTTP://me:word@${host}`]) {
      assert.notInclude(await errorAt(malformed), "word")
    }
    for (const command of [["list", "locations"], ["status"]]) {
      const { code, err } = await waypost(command, { ...env, WAYPOST_API_KEY: "wp_a\nwp_b" })
      assert.deepStrictEqual([code, err], [1, "The API key has characters that no header can have\n"])
    }
  })

  it("an address that redirects to https is reported with that one, and the key is not sent again", async () => {
    const path = file("redirected.csv", "name,identifier\nA,RD-1\n")
    const location = "https://waypost.example/v1/locations?limit=25"
    await using stack = new AsyncDisposableStack()
    const { close, requests, url } = await Responses.serverWith([[301, "", { location }]])
    stack.defer(() => void close())
    const advice = `${url} redirects to https://waypost.example. If that is the service, set --url or WAYPOST_URL to it`
    const errorOf = async (...command: ReadonlyArray<string>) => {
      const { code, err } = await waypost(command, { ...env, WAYPOST_URL: url })
      assert.strictEqual(code, 1)
      return err
    }
    assert.strictEqual(await errorOf("status"), `${advice}\n`)
    assert.strictEqual(requests[0]!.key, "undefined")
    for (const command of [
      ["list", "locations"],
      ["import", "locations", path]
    ]) {
      requests.length = 0
      assert.strictEqual(
        await errorOf(...command),
        `${advice}. The key was sent unencrypted: replace it if others can read the network\n`
      )
      assert.lengthOf(requests, 1)
    }
  })

  it.each(["/", "/v1", "/v1/"])("the address may end with %s", async (end) => {
    const { code, err } = await waypost(["list", "locations"], { ...env, WAYPOST_URL: service.url + end })
    assert.strictEqual(code, 0, err)
  })
})

describe("waypost keys and migrate", () => {
  it("keys create, list and revoke take effect in the running service", async () => {
    const created = await waypost(["keys", "create", "--name", "ERP", "--preset", "location-sync"], env)
    const key = /wp_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/.exec(created.out)![0]
    const status = async () => (await fetch(`${service.url}/v1/me`, { headers: { authorization: key } })).status
    assert.strictEqual(await status(), 200)
    const listed = await waypost(["keys", "list"], env)
    assert.include(listed.out, key.slice(0, 25))
    assert.notInclude(listed.out, key)
    assert.strictEqual((await waypost(["keys", "revoke", key.slice(0, 25)], env)).code, 0)
    await until("the key is rejected", async () => (await status()) === 401)
  })

  it("migrate and keys create work without a running service", async () => {
    const own = Process.dataFolder()
    const migrated = await start(["migrate"], { DATA_DIR: own.folder }).result
    assert.strictEqual(migrated.code, 0)
    assert.include(migrated.out, "Applied 0001_create_foundation")
    assert.include((await waypost(["migrate"], { DATA_DIR: own.folder })).out, "up to date")
    const created = await waypost(["keys", "create", "--name", "First", "--permission", "read:locations"], {
      DATA_DIR: own.folder
    })
    assert.match(created.out, /wp_/)
    own.remove()
  })

  it("keys create rejects an unknown permission", async () => {
    const { code, err, out } = await waypost(["keys", "create", "--name", "X", "--permission", "read:location"], env)
    assert.notStrictEqual(code, 0)
    assert.include(err + out, "read:location")
  })
})
