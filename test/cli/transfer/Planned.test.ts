import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Importing from "../../support/cli/Importing.ts"
import * as Proxy from "../../support/cli/Proxy.ts"

let importing: Importing.Importing

beforeAll(async () => {
  importing = await Importing.start()
})
afterAll(() => importing?.service[Symbol.asyncDispose]())

/** The requests that the service has answered, or those among them whose path has a word. */
const requests = async (word = "") => {
  const text = await (await fetch(`${importing.service.url}/metrics`)).text()
  return text
    .split("\n")
    .filter((line) => line.startsWith("http_request_duration_seconds_count{") && line.includes(word))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
}

/** Imports rows, and returns the output with the number of requests that this took. */
const counted = async (resource: string, rows: ReadonlyArray<object>, ...flags: ReadonlyArray<string>) => {
  const path = importing.file(rows.map((row) => JSON.stringify(row)).join("\n"), "ndjson")
  const before = await requests()
  const { code, out } = await importing.run(resource, path, ...flags)
  return { path, code, out, requests: (await requests()) - before }
}

const times = <A>(count: number, f: (index: number) => A) => Array.from({ length: count }, (_, index) => f(index))
const list = async (path: string) =>
  (await importing.service.call("GET", path)).body.data as ReadonlyArray<Record<string, unknown>>

describe("imports in plans", () => {
  it("users and groups that name others take a request for a hundred names, and none for each row", async () => {
    await counted(
      "locations",
      times(300, (index) => ({ name: "Branch", identifier: `P-${index}` }))
    )
    const user = (index: number) => ({
      username: `user.${index}`,
      email: `user.${index}@example.com`,
      locations: [`P-${index}`, `P-${(index + 1) % 300}`]
    })
    const users = await counted("users", times(300, user))
    assert.include(users.out, "users: 300 created")
    assert.isBelow(users.requests, 10)
    const group = (index: number) => ({ name: `Group ${index}`, users: [`user.${index}`], locations: [`P-${index}`] })
    const groups = await counted("groups", times(300, group))
    assert.include(groups.out, "groups: 300 created")
    assert.isBelow(groups.requests, 14)
    const [last] = await list("/v1/groups?filter=name:equals:Group%20299")
    assert.deepInclude(last, { userCount: 1, locationCount: 1 })
    for (const { out, requests } of [
      await counted("users", times(300, user)),
      await counted("groups", times(300, group))
    ]) {
      assert.include(out, "300 unchanged")
      assert.isBelow(requests, 14)
    }
  })

  it("the locations and groups of users that exist become those of their rows, and others stay", async () => {
    await counted("locations", [
      { name: "One", identifier: "M-1" },
      { name: "Two", identifier: "M-2" }
    ])
    await counted("groups", [{ name: "Members" }])
    const people = ["x", "y"].map((name) => ({
      username: `m.${name}`,
      email: `m.${name}@example.com`,
      locations: ["M-1"]
    }))
    await counted("users", people)
    const changed = [
      { ...people[0], locations: ["M-2"], groups: ["Members"] },
      { ...people[1], lastName: "Y" }
    ]
    assert.include((await counted("users", changed, "--dry-run")).out, "2 updated")
    assert.include((await counted("users", changed)).out, "2 updated")
    const membersOf = async (username: string, kind: string) => {
      const [user] = await list(`/v1/users?filter=username:equals:${username}`)
      return (await list(`/v1/users/${String(user!["uuid"])}/${kind}`)).map(
        ({ identifier, name }) => identifier ?? name
      )
    }
    assert.deepStrictEqual(await membersOf("m.x", "locations"), ["M-2"])
    assert.deepStrictEqual(await membersOf("m.x", "groups"), ["Members"])
    assert.deepStrictEqual(await membersOf("m.y", "locations"), ["M-1"])
  })

  it("null is the empty list of the members of users and groups, which exist or not", async () => {
    await counted("locations", [{ name: "One", identifier: "E-1" }])
    await counted("groups", [{ name: "Held", locations: ["E-1"] }])
    const member = (n: number) => ({
      username: `z.${n}`,
      email: `z.${n}@example.com`,
      locations: ["E-1"],
      groups: ["Held"]
    })
    await counted("users", [member(0), member(1)])
    const users = [1, 2].map((n) => ({ ...member(n), locations: null, groups: null }))
    const groups = ["Held", "New"].map((name) => ({ name, users: null, locations: null }))
    for (const [resource, rows] of [
      ["users", users],
      ["groups", groups]
    ] as const) {
      assert.include((await counted(resource, rows)).out, "1 created, 1 updated")
      assert.include((await counted(resource, rows)).out, "2 unchanged")
    }
    const [user] = await list("/v1/users?filter=username:equals:z.1")
    for (const kind of ["locations", "groups"])
      assert.deepStrictEqual(await list(`/v1/users/${String(user!["uuid"])}/${kind}`), [])
    const [held] = await list("/v1/groups?filter=name:equals:Held")
    assert.deepInclude(held, { userCount: 0, locationCount: 0 })
  })

  it("while nearly all rows are new they are created in bulk, and a plan does what the others need", async () => {
    const row = (index: number) => ({ name: "Branch", identifier: `B-${index}` })
    await counted("locations", [row(4100), row(4200)])
    const rows = times(4500, (index) => {
      if (index === 4200) return { ...row(index), name: "Renamed" }
      return index === 4300 ? { ...row(index), locale: "?" } : row(index)
    })
    const bulk = () => requests("bulk")
    const before = await bulk()
    const outcome = "4,497 created, 1 updated, 1 unchanged, 1 refused"
    assert.include((await counted("locations", rows, "--dry-run")).out, outcome)
    assert.strictEqual(await bulk(), before)
    const { code, out, path } = await counted("locations", rows)
    assert.strictEqual(code, 1)
    assert.include(out, outcome)
    assert.strictEqual(await bulk(), before + 1)
    assert.include(importing.refused(path, "ndjson"), '"B-4300"')
    const [renamed] = await list("/v1/locations?filter=identifier:equals:B-4200")
    assert.strictEqual(renamed!["name"], "Renamed")
    assert.include((await counted("locations", rows.slice(4000))).out, "499 unchanged, 1 refused")
  })

  it("names that have more bytes in an address than a query may have are looked up with several requests", async () => {
    const names = times(200, (index) => `Группа торговых точек ${index} «юг»`)
    await counted(
      "groups",
      names.map((name) => ({ name }))
    )
    const users = names.map((name, index) => ({
      username: `c.${index}`,
      email: `c.${index}@example.com`,
      groups: [name]
    }))
    const { out, requests } = await counted("users", users)
    assert.include(out, "users: 200 created")
    assert.isBelow(requests, 20)
    const [first] = await list(`/v1/groups?filter=name:equals:${encodeURIComponent(names[0]!)}`)
    assert.deepInclude(first, { userCount: 1 })
  })

  it("rows that name nothing that exists are rejected with the name, and the others are imported", async () => {
    const rows = [
      { name: "Known", locations: ["P-1"] },
      { name: "Unknown", locations: ["P-1", "NOWHERE"] },
      { name: "Odd", users: ['a "quoted", (odd|name): \\'] },
      { name: "Long", users: ["x".repeat(3000)] }
    ]
    const { code, out, path } = await counted("groups", rows)
    assert.strictEqual(code, 1)
    assert.include(out, "1 created, 3 refused")
    const refused = importing.refused(path, "ndjson")
    assert.include(refused, 'No location has the identifier \\"NOWHERE\\"')
    assert.lengthOf(refused.trim().split("\n"), 3)
    assert.notInclude(refused, "reference")
  })

  it("names are found with spaces at their ends and with accents in another form, but not in another case", async () => {
    await counted("locations", [{ name: "Branch", identifier: "Zoë-1" }])
    await counted("groups", [{ name: "Café" }])
    const location = " Zoë-1 ".normalize("NFD")
    const users = [
      { username: "n.1", email: "n.1@example.com", locations: [location], groups: ["Café ".normalize("NFD")] }
    ]
    assert.include((await counted("users", users)).out, "users: 1 created")
    assert.include((await counted("users", users)).out, "users: 1 unchanged")
    const groups = [
      { name: "Named", users: [" n.1"], locations: ["Zoë-1", location] },
      { name: "Other case", users: ["N.1"] },
      { name: "No name", users: [" "] },
      { name: "No text", users: ["n.1\u0000"] }
    ]
    const { out, path } = await counted("groups", groups)
    assert.include(out, "1 created, 3 refused")
    const refused = importing.refused(path, "ndjson")
    assert.include(refused, 'No user has the username \\"N.1\\"')
    assert.include(refused, "Expected non-empty text")
    const [named] = await list("/v1/groups?filter=name:equals:Named")
    assert.deepInclude(named, { userCount: 1, locationCount: 1 })
  })

  it.each([
    ["csv", "line 3", 1],
    ["ndjson", "line 2", 1],
    ["json", "item 2", 17]
  ] as const)(
    "a row of %s that is longer than a plan takes is rejected with its number, and the others are imported",
    async (format, place, megabytes) => {
      const fileWith = (megabytes: number) => {
        const rows = ["1", "2", "3"].map((number) => ({
          identifier: `L-${format}-${number}`,
          name: number === "2" ? "x".repeat(megabytes * 1024 ** 2) : "A"
        }))
        const texts = {
          csv: () => ["identifier,name", ...rows.map(({ identifier, name }) => `${identifier},${name}`)].join("\n"),
          ndjson: () => rows.map((row) => JSON.stringify(row)).join("\n"),
          json: () => JSON.stringify(rows)
        }
        return importing.file(texts[format](), format)
      }
      const path = fileWith(1)
      const reason = `${place}: The row has more than 1 MiB as JSON, the maximum of a row`
      const planned = await waypost(["sync", "locations", path, "--plan"], importing.env)
      assert.include(planned.out, reason)
      assert.include(planned.out, "locations: 2 to create, 1 refused")
      // All commands read a file in the same way.
      const longer = megabytes === 1 ? path : fileWith(megabytes)
      const { code, out } = await importing.run("locations", longer, "--dry-run")
      assert.strictEqual(code, 1)
      assert.include(out, reason)
      assert.include((await importing.run("locations", path)).out, "2 created, 1 refused")
      assert.lengthOf(await list(`/v1/locations?filter=identifier:startsWith:L-${format}-`), 2)
    }
  )

  it("of rows of one file with the same e-mail address, the first is imported and the others are rejected", async () => {
    const row = (index: number) => ({ username: `e.${index}`, email: `e.${index % 1100}@example.com` })
    const { code, out, path } = await counted("users", times(1102, row))
    assert.strictEqual(code, 1)
    assert.include(out, "1,100 created, 2 refused")
    assert.match(importing.refused(path, "ndjson"), /"username":"e\.1100".*EmailNotUniqueError/)
  })

  it("products without modules are compared in a plan, also variants before a parent that has modules", async () => {
    const rows = [
      { type: "variant", identifier: "T-S", name: "S", parent: "T", options: ["size=s"] },
      ...times(200, (index) => ({ type: "default", identifier: `T-${index}`, name: "Flyer" })),
      { type: "variantParent", identifier: "T", name: "Shirt", modules: { price: { model: "free" } } }
    ]
    assert.include((await counted("products", rows, "--dry-run")).out, "202 created")
    const created = await counted("products", rows)
    assert.include(created.out, "202 created")
    assert.isBelow(created.requests, 20)
    const [parent] = await list("/v1/products?filter=identifier:equals:T")
    assert.strictEqual((await list("/v1/products?filter=identifier:equals:T-S"))[0]!["parentUuid"], parent!["uuid"])
    const again = await counted("products", rows)
    assert.include(again.out, "202 unchanged")
    assert.isBelow(again.requests, 12)
  })

  it("posts that keep their status are compared in a plan, and those that are published are sent one by one", async () => {
    const post = (index: number, status: string) => ({
      slug: `plan-${index}`,
      type: "news",
      status,
      ...(status === "scheduled" && { publishAt: "2126-01-01T00:00:00.000Z" }),
      translations: [{ locale: "nl", title: `Nieuws ${index}` }]
    })
    const drafts = await counted(
      "posts",
      times(40, (index) => post(index, "draft"))
    )
    assert.include(drafts.out, "40 created")
    assert.isBelow(drafts.requests, 5)
    const mixed = times(40, (index) => post(index, index === 0 ? "published" : index < 20 ? "scheduled" : "draft"))
    assert.include((await counted("posts", mixed)).out, "20 updated, 20 unchanged")
    assert.strictEqual((await list("/v1/posts?filter=slug:equals:plan-0"))[0]!["status"], "published")
    const published = mixed.slice(0, 1)
    const again = await counted(
      "posts",
      [...published, ...times(20, (index) => post(index + 20, "published"))],
      "--dry-run"
    )
    assert.include(again.out, "20 updated, 1 unchanged")
    assert.include((await counted("posts", published)).out, "1 unchanged")
  })

  it("while the service is busy, lookups of names and slugs and reads of refused rows wait and go on as well", async () => {
    await counted("locations", [{ name: "Branch", identifier: "W-1" }])
    const proxy = await Proxy.start(importing.service.url)
    const kinds = [/^\/v1\/locations\?/, /^\/v1\/posts\?/, /^\/v1\/plans\/[^/]+\/changes/]
    const left = new Map(kinds.map((kind) => [kind, 5]))
    proxy.decide(({ path }) => {
      const kind = kinds.find((one) => one.test(path))
      const times = kind === undefined ? 0 : left.get(kind)!
      if (times === 0) return "pass"
      left.set(kind!, times - 1)
      return { status: 503, headers: { "retry-after": "0" } }
    })
    const run = (resource: string, ...rows: ReadonlyArray<object>) =>
      waypost(["import", resource, importing.file(rows.map((row) => JSON.stringify(row)).join("\n"), "ndjson")], {
        ...importing.env,
        WAYPOST_URL: proxy.url
      })
    const post = { slug: "w-1", type: "news", translations: [{ locale: "en", title: "W" }] }
    const users = await run("users", { username: "w.1", email: "w.1@example.com", locations: ["W-1"] })
    const posts = await run("posts", { ...post, status: "scheduled", publishAt: "2126-01-01T00:00:00.000Z" })
    const refused = await run("locations", { name: "Branch", identifier: "W-2", locale: "?" })
    proxy.close()
    assert.include(users.out, "1 created", users.err)
    assert.include(posts.out, "1 created", posts.err)
    assert.include(refused.out, "1 refused", refused.err)
    assert.deepStrictEqual([...left.values()], [0, 0, 0])
  })

  it("a row whose record changes each time it is planned is refused, and the import goes on", async () => {
    const proxy = await Proxy.start(importing.service.url)
    const message = "Records of the plan changed since it was made: O-1; make a new plan"
    // The plan of both rows is applied three times, and then that of the first one.
    let left = 6
    proxy.decide(({ path }) =>
      path.endsWith("/apply") && left-- > 0
        ? {
            status: 409,
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ _tag: "PlanOutdatedError", message, changed: ["O-1"], requestId: "outdated" })
          }
        : "pass"
    )
    const rows = ["O-1", "O-2"].map((identifier) => JSON.stringify({ name: "Branch", identifier }))
    const file = importing.file(rows.join("\n"), "ndjson")
    const { code, err, out } = await waypost(["import", "locations", file], {
      ...importing.env,
      WAYPOST_URL: proxy.url
    })
    proxy.close()
    assert.strictEqual(code, 1)
    assert.include(out, "1 created, 1 refused", err)
    assert.deepInclude(JSON.parse(importing.refused(file, "ndjson")), {
      identifier: "O-1",
      _reasons: [{ line: 1, code: "PlanOutdatedError", message }]
    })
  })
})
