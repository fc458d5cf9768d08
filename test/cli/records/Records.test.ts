import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { operations } from "../../../src/api/Operations.ts"
import * as Process from "../../support/Process.ts"
import { callTo } from "../../support/Service.ts"
import { launcher, start, waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key, XDG_STATE_HOME: join(service.folder, "state") }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const succeeds = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await waypost(args, env)
  assert.strictEqual(code, 0, err)
  return out
}
const json = async (...args: ReadonlyArray<string>) => JSON.parse(await succeeds(...args))
const fails = async (...args: ReadonlyArray<string>) => {
  const { code, err } = await waypost(args, env)
  assert.strictEqual(code, 1)
  return err
}

describe("commands on records", () => {
  it("a record is created, shown, listed, changed and deleted by its identifier", async () => {
    const file = join(service.folder, "location.json")
    writeFileSync(file, JSON.stringify({ name: "From the file", address: { city: "Utrecht", countryCode: "NL" } }))
    const members = ["name=De Hoek", "identifier=R-1", "address.zipcode=3511 AB", "postalCodes=3511;3512"]
    const numbers = ["coordinates.latitude=52.1", "coordinates.longitude=5.1"]
    const set = [...members, ...numbers].flatMap((member) => ["--set", member])
    const created = await succeeds("create", "locations", "--data", `@${file}`, ...set)
    const uuid = /^Created (\S+) of locations\n$/.exec(created)![1]!
    await succeeds("create", "locations", "--set", "name=Other", "--set", "identifier=R-2")
    const record = await json("get", "locations", "R-1")
    assert.deepInclude(record, {
      uuid,
      name: "De Hoek",
      postalCodes: ["3511", "3512"],
      address: { city: "Utrecht", countryCode: "NL", zipcode: "3511 AB" },
      coordinates: { latitude: 52.1, longitude: 5.1 }
    })
    assert.deepStrictEqual(await json("get", "locations", uuid), record)

    await succeeds("update", "locations", "R-1", "--set", "contact.phone=+31 30 123 45 67")
    const listed = await waypost(
      ["list", "locations", "--filter", "address.city:equals:Utrecht", "--fields", "identifier,contact.phone", "--csv"],
      env
    )
    assert.strictEqual(listed.out, "identifier,contact.phone\nR-1,'+31 30 123 45 67\n")
    assert.deepStrictEqual(
      await json("list", "locations", "--sort-by", "identifier", "--sort-order", "asc", "--fields", "name"),
      [{ name: "De Hoek" }, { name: "Other" }]
    )
    const one = await waypost(["list", "locations", "--limit", "1"], env)
    assert.include(one.err, "1 of 2; --page and --limit show others")

    assert.strictEqual(await succeeds("delete", "locations", "R-1"), `Deleted ${uuid} of locations\n`)
    assert.include(await fails("get", "locations", "R-1"), 'No record of locations has the identifier "R-1"')
  })

  it("all output arrives through a pipe, and output that a full disk does not take is an error", async () => {
    const body = "x".repeat(199_000)
    const call = callTo(service.url, env["WAYPOST_API_KEY"])
    for (const slug of ["large-1", "large-2"]) {
      const translations = ["en", "fr", "nl"].map((locale) => ({ locale, title: slug, body }))
      assert.strictEqual((await call("POST", "/v1/posts", { slug, type: "news", translations })).status, 201)
    }
    const listing = ["list", "posts", "--json"]
    for (const args of [listing, ["export", "posts", "-", "--format", "ndjson"]]) {
      const { code, err, out } = await start(args, env).result
      assert.strictEqual(code, 0, err)
      assert.lengthOf(out.split(body), 7)
      assert.isTrue(out.endsWith("\n"))
    }
    const closing = start(listing, env)
    closing.process.stdout!.once("data", () => closing.process.stdout!.destroy())
    assert.deepInclude(await closing.result, { code: 0, err: "" })

    const full = openSync("/dev/full", "w")
    for (const args of [listing, ["export", "posts", "-", "--format", "ndjson"]]) {
      const filling = spawn(process.execPath, [launcher, ...args], {
        env: { ...process.env, ...env },
        stdio: ["ignore", full, "pipe"]
      })
      let stderr = ""
      filling.stderr!.on("data", (chunk) => (stderr += String(chunk)))
      const [status] = await once(filling, "close")
      assert.strictEqual(status, 1)
      assert.strictEqual(stderr, "Cannot write the output: ENOSPC: no space left on device, write\n")
    }
    closeSync(full)
  })

  it("the secret of a webhook, which only the answer of its creation has, is printed", async () => {
    const body = { url: "http://127.0.0.1:4999", types: ["location.created"] }
    const { secret, uuid } = await json("create", "webhooks", "--data", JSON.stringify(body))
    assert.match(secret, /^whsec_/)
    assert.strictEqual((await json("get", "webhooks", uuid)).url, body.url)
  })

  it("search finds assets by words", async () => {
    const { out } = await waypost(["search", "assets", "no", "such", "words", "--locale", "en"], env)
    assert.deepStrictEqual(JSON.parse(out), [])
  })

  it("a page of a list or a search says how many records there are, and names the export of those that have one", async () => {
    const cakes = join(service.folder, "cakes")
    mkdirSync(cakes)
    for (const name of ["one", "two", "three"]) writeFileSync(join(cakes, `Taart ${name}.txt`), name)
    await succeeds("upload", cakes)
    for (const args of [
      ["search", "assets", "taart"],
      ["list", "assets"]
    ]) {
      const { code, err, out } = await waypost([...args, "--limit", "2"], env)
      assert.deepStrictEqual([code, err], [0, "2 of 3; --page and --limit show others\n"], args[0])
      assert.lengthOf(JSON.parse(out), 2)
    }
    const { err } = await waypost(["search", "assets", "taart", "one"], env)
    assert.strictEqual(err, "")
    for (const name of ["North", "South"]) await succeeds("create", "groups", "--set", `name=${name}`)
    const groups = await waypost(["list", "groups", "--limit", "1"], env)
    assert.strictEqual(groups.err, "1 of 2; --page and --limit show others, waypost export writes all\n")
    for (const name of ["North", "South"]) await succeeds("delete", "groups", name)
  })

  it("a mistake is answered with the nearest name", async () => {
    assert.include(
      await fails("create", "locations", "--set", "nme=x"),
      "--set nme: unknown member; did you mean name?"
    )
    assert.include(await fails("create", "locations"), "Pass the record with --set member=value or --data")
    assert.include(await fails("list", "locations", "--fields", "nme"), 'Unknown field "nme"; did you mean name?')
    assert.include(await fails("list", "locations", "--filter", "nme:equals:x"), "InvalidFilterError: ")
    assert.include(await fails("create", "locations", "--set", "name=x"), "InvalidRequestError: identifier: Required")
    assert.include(await fails("list", "location"), "locations")
  })

  it("an empty value is not sent as no change, and a file that is not UTF-8 is not sent with other letters", async () => {
    await succeeds(
      "create",
      "locations",
      "--set",
      "name=Full",
      "--set",
      "identifier=R-3",
      "--set",
      "contact.phone=+31301234567"
    )
    const cleared = `--data '{"contact":{"phone":null}}'`
    assert.include(await fails("update", "locations", "R-3", "--set", "contact.phone="), cleared)
    for (const value of ["", " ", ";"]) {
      const set = ["--set", `postalCodes=${value}`]
      assert.include(await fails("update", "locations", "R-3", ...set), `--data '{"postalCodes":[]}'`)
    }
    for (const body of ['{"contact":{"phone":null}}', '{"postalCodes":[]}'])
      await succeeds("update", "locations", "R-3", "--data", body)
    assert.notProperty((await json("get", "locations", "R-3")).contact ?? {}, "phone")

    const file = join(service.folder, "latin.json")
    writeFileSync(file, Buffer.from('{"name":"Café"}', "latin1"))
    assert.include(await fails("update", "locations", "R-3", "--data", `@${file}`), `${file} is not UTF-8`)
    writeFileSync(file, '\uFEFF{"name":"Café"}')
    await succeeds("update", "locations", "R-3", "--data", `@${file}`)
    const piped = await waypost(["update", "locations", "R-3", "--data", "-"], env, '{"identifier":"R-4"}')
    assert.strictEqual(piped.code, 0, piped.err)
    assert.strictEqual((await json("get", "locations", "R-4")).name, "Café")
    await succeeds("delete", "locations", "R-4")
  })

  it("the contract decides which commands there are", async () => {
    const found = operations()
    const of = (verb: string) => found.flatMap((one) => (one.verb === verb ? [one.resource] : [])).toSorted()
    const records = ["asset-categories", "assets", "groups", "locations", "meta-tags", "posts", "products", "users"]
    for (const verb of ["list", "get", "create", "update", "delete"]) assert.includeMembers(of(verb), records, verb)
    assert.deepStrictEqual(of("search"), ["assets"])
    for (const resource of of("list"))
      assert.include(await succeeds("list", resource, "--help"), `waypost list ${resource}`)
    const assets = found.find(({ resource, verb }) => resource === "assets" && verb === "list")!
    assert.strictEqual(assets.fields[0], "translations.0.name")
    assert.include(assets.lists, "translations")
    assert.isTrue(found.every(({ fields, verb }) => !["list", "get", "search"].includes(verb) || fields.length > 2))
  })
})

describe("waypost status", () => {
  it("shows whether the service answers and what the key may do", async () => {
    const out = await succeeds("status")
    assert.include(out, `Service  ${service.url}\nState    ready\nKey      "Test" (wp_`)
    assert.deepInclude(await json("status", "--json"), { url: service.url, ready: true })
    assert.include((await waypost(["status"], { WAYPOST_URL: service.url })).out, "none; set WAYPOST_API_KEY")
    const wrong = await waypost(["status", "--key", "wp_wrong"], env)
    assert.strictEqual(wrong.code, 1)
    assert.include(wrong.out, "not accepted")
    const url = `http://127.0.0.1:${await Process.freePort()}`
    const none = await waypost(["status", "--url", url], env)
    assert.strictEqual(none.code, 1)
    assert.include(none.err, `No service answers at ${url}`)
  })

  it("a service is ready only if Waypost answers so, and a key is rejected only if the service rejects it", async () => {
    const answers = new Map<string, readonly [number, unknown]>()
    const asked: Array<string | undefined> = []
    const server = createServer(({ url }, response) => {
      asked.push(url)
      const [status, body] = answers.get(url!) ?? [404, "<html>"]
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const status = () => waypost(["status", "--url", url], env)
    for (const [code, body] of [
      [200, "<html>"],
      [404, "<html>"],
      [502, "<html>"],
      [404, { status: "error" }]
    ] as const) {
      answers.set("/readyz", [code, body])
      const { err, out } = await status()
      assert.deepStrictEqual([out, err.includes(`What answers at ${url} is not Waypost (status ${code})`)], ["", true])
    }
    assert.deepStrictEqual([...new Set(asked)], ["/readyz"])
    answers.set("/readyz", [503, { status: "unavailable", database: "down", storage: "up" }])
    assert.include((await status()).out, 'not ready: {"status":"unavailable"')
    answers.set("/readyz", [200, { status: "ready", database: "up", storage: "up" }])
    for (const [code, answer, message] of [
      [401, "not accepted: No", "does not accept the key"],
      [429, "unknown: No", "did not check the key"]
    ] as const) {
      answers.set("/v1/me", [code, { message: "No" }])
      const result = await status()
      assert.include(result.out, answer)
      assert.include(result.err, message)
      assert.strictEqual(result.code, 1)
    }
    server.close().closeAllConnections()
  })

  it("a deleted record is restored by its uuid, and what was not restored is printed", async () => {
    const group = (await json("create", "groups", "--set", "name=Gone", "--json")).uuid
    const data = JSON.stringify({ username: "back", email: "back@example.com", groups: [group] })
    const { uuid } = await json("create", "users", "--data", data, "--json")
    await succeeds("delete", "users", "back")
    await succeeds("delete", "groups", "Gone")
    const { code, err, out } = await waypost(["restore-record", "users", uuid], env)
    assert.deepStrictEqual([code, out, err], [0, `Restored ${uuid} of users\n`, "Not restored: groups 1\n"])
    assert.strictEqual((await json("get", "users", "back")).uuid, uuid)
    assert.match(await fails("restore-record", "users", uuid), /eventId/)
  })
})
