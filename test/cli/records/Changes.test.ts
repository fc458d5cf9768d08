import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { start, waypost } from "../../support/cli/Command.ts"
import * as Proxy from "../../support/cli/Proxy.ts"
import * as Served from "../../support/cli/Served.ts"
import { until } from "../../support/Until.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const json = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await waypost(args, env)
  assert.strictEqual(code, 0, err)
  return JSON.parse(out)
}

describe("commands on changes", () => {
  it("the history of a record is shown by its identifier, and by its uuid when it is deleted", async () => {
    const created = await json("create", "locations", "--set", "name=De Hoek", "--set", "identifier=R-1", "--json")
    await json("update", "locations", "R-1", "--set", "name=De Bocht", "--json")
    const updated = await until("the history has both events", async () => {
      const events = await json("history", "locations", "R-1")
      return events.length === 2 && events
    })
    assert.deepStrictEqual(updated[0].changes, [{ path: "name", before: "De Hoek", after: "De Bocht" }])
    await json("delete", "locations", "R-1", "--json")
    const types = await until("the history has three events", async () => {
      const events = await json("history", "locations", created.uuid)
      return events.length === 3 && events.map(({ type }: { readonly type: string }) => type)
    })
    assert.deepStrictEqual(types, ["location.deleted", "location.updated", "location.created"])
  })

  it("events are listed by type and time, the latest first or all since a time", async () => {
    const latest = await json("events", "--types", "location.*", "--limit", "2")
    const since = await json("events", "--types", "location.*", "--since", "2026-01-01")
    assert.deepStrictEqual(
      latest.map(({ type }: { readonly type: string }) => type),
      ["location.deleted", "location.updated"]
    )
    assert.strictEqual(since[0].type, "location.created")
    const { code, err } = await waypost(["events", "--since", "yesterday"], env)
    assert.deepStrictEqual([code, err.includes("--since: Expected a time")], [1, true])
  })

  it("the latest events of a type are found behind more events of others than the service reads for a page", async () => {
    const { uuid } = await json("create", "locations", "--set", "name=Behind", "--set", "identifier=Behind", "--json")
    await json("delete", "locations", uuid, "--json")
    const latest = () => json("events", "--types", "location.deleted", "--limit", "1")
    const found = await until("the deletion is listed", async () => {
      const events = await latest()
      return events[0]?.record.uuid === uuid && events
    })
    // A page reads 10,000 positions.
    await service.execute("update event_log set position = position + 25000")
    assert.deepStrictEqual(await latest(), found)
  })

  it("events since a time are printed as they are read, before the last page", async () => {
    await json("create", "locations", "--set", "name=Printed", "--set", "identifier=Printed", "--json")
    const page = await until("an event is listed", async () => {
      const { body } = await service.call("GET", "/v1/events?limit=1")
      return body.data.length === 1 && body
    })
    const proxy = await Proxy.start(service.url)
    onTestFinished(proxy.close)
    const first = {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...page, more: true })
    }
    proxy.decide(({ path }) => (path.includes("after=") ? { status: 418 } : first))
    const { code, out } = await waypost(["events", "--since", "2026-01-01"], { ...env, WAYPOST_URL: proxy.url })
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(JSON.parse(`${out}]`), page.data)
  })

  it("the help of events has the order with --since, and an example whose types the shell does not expand", async () => {
    const { out } = await waypost(["events", "--help"], env)
    assert.include(out, "with --since the oldest first")
    assert.include(out, "--types 'location.*'")
  })

  it("events are followed, one line of JSON each", async () => {
    const types = "location.created"
    const following = start(
      ["events", "--follow", "--json", "--since", new Date().toISOString(), "--types", types],
      env
    )
    let out = ""
    following.process.stdout!.on("data", (chunk) => (out += String(chunk)))
    const labels = () => out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).record.label]))
    for (const name of ["First", "Second"]) {
      await json("create", "locations", "--set", `name=${name}`, "--set", `identifier=${name}`, "--json")
      await until(`${name} is printed`, () => labels().includes(name))
    }
    assert.deepStrictEqual(labels(), ["First", "Second"])
    following.process.kill("SIGINT")
    await following.result
  })

  it("following events ends when its reader has closed the pipe", async () => {
    const following = start(["events", "--follow", "--since", new Date().toISOString()], env)
    const create = (name: string) =>
      json("create", "locations", "--set", `name=${name}`, "--set", `identifier=${name}`, "--json")
    const received = once(following.process.stdout!, "data")
    await create("Read")
    await received
    following.process.stdout!.destroy()
    await create("Unread")
    assert.deepInclude(await following.result, { code: 0, err: "" })
  })
})
