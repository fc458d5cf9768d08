import type { Sql } from "postgres"
import { assert, describe, it, type TestContext } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { floodElsewhere } from "../support/proofs/Floods.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"

/** The maximum of the contract. */
const media = 100
/** How many of a page have media, so that it is below the limit of 15 MiB. */
const locations = 200
/** A page of the oldest locations, which have the media. */
const path = "/v1/locations?limit=500&sortOrder=asc"

interface Location {
  readonly media: { readonly items: ReadonlyArray<unknown> }
}

/** What other keys measure while one key repeats a page for 15 s, and how often each status came to it. */
const whileRepeated = async (
  ctx: TestContext,
  running: Running.Running,
  {
    connections,
    page,
    permission
  }: { readonly connections: number; readonly page: string; readonly permission: string }
) => {
  const key = await keyWith(running, permission)
  const { alone, during, result } = await duringAttack(running, () =>
    floodElsewhere(running.url, connections, 15, { path: page, key })
  )
  await report(ctx, { ...figures(alone, during), attacker: [...result].join(" ") })
  assertUnharmed(during, { read: 150, write: 400 })
  return result
}

const files = (sql: Sql, count: number) => sql`
  insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
  select gen_random_uuid(), 'a.txt', 'txt', 'text/plain', 1, '', 'a.txt', 'a.txt' from generate_series(1, ${count}::int)`

const assets = (sql: Sql) => sql`
  insert into assets (uuid, file_uuid, translations)
  select gen_random_uuid(), uuid, '[{"locale":"en","name":"A"}]' from files`

describe("costly pages of one key", () => {
  it("pages of locations with a hundred media each leave other keys their reads and writes", async (ctx) => {
    await using running = await Running.start()
    const { sql } = running
    await Running.locations(sql, 1000)
    await files(sql, 1)
    await assets(sql)
    const [asset] = await sql<ReadonlyArray<{ uuid: string }>>`select uuid from assets`
    const items = Array.from({ length: media }, () => ({ assetUuid: asset!.uuid, role: "exterior" }))
    const owners = await sql<
      ReadonlyArray<{ uuid: string }>
    >`select uuid from locations order by uuid limit ${locations}`
    for (const { uuid } of owners) {
      const answer = await running.call("PUT", `/v1/locations/${uuid}/media`, { items })
      assert.strictEqual(answer.status, 200, answer.text)
    }
    const result = await whileRepeated(ctx, running, { connections: 4, page: path, permission: "read:locations" })
    // Afterwards, because the service would otherwise know how large these pages are.
    const page = await running.call("GET", path)
    assert.strictEqual(page.status, 200, page.text)
    assert.isAbove(page.text.length, 13_000_000)
    const hasAll = (location: Location) => location.media.items.length === media
    assert.strictEqual(page.body.data.filter(hasAll).length, locations)
    assert.isTrue(result.has(200))
  })

  it("pages that are rejected for their size leave other keys their reads and writes", async (ctx) => {
    await using running = await Running.start()
    const { sql } = running
    await Running.locations(sql, 1000)
    await sql`
      update locations set translation_labels = (
        select jsonb_agg(jsonb_build_object('key', 'other.k' || i, 'label', repeat('a', 100), 'locale', 'en'))
        from generate_series(1, 1000) i
      ) where uuid in (select uuid from locations order by uuid limit 250)`
    const page = "/v1/locations?limit=250&sortOrder=asc"
    const result = await whileRepeated(ctx, running, { connections: 4, page, permission: "read:locations" })
    assert.deepStrictEqual([...result.keys()], [400])
  })

  it("pages with fields that have megabytes leave other keys their reads and writes", async (ctx) => {
    await using running = await Running.start()
    await Running.locations(running.sql, 1000)
    for (let number = 0; number < 70; number++) {
      const translations = [{ locale: "en", title: `Big ${number}`, body: `<p>${"a".repeat(189_000)}</p>` }]
      await running.create("/v1/posts", { type: "news", slug: `big-${number}`, translations })
    }
    const page = "/v1/posts?limit=70&fields=translations"
    const result = await whileRepeated(ctx, running, { connections: 4, page, permission: "read:posts" })
    assert.isTrue(result.has(200))
  })

  it("384 connections with pages that sign the addresses of 250 assets leave other keys their reads and writes", async (ctx) => {
    await using running = await Running.start()
    const { sql } = running
    await Running.locations(sql, 1000)
    await files(sql, 250)
    await assets(sql)
    const page = "/v1/assets?limit=250"
    const result = await whileRepeated(ctx, running, { connections: 384, page, permission: "read:assets" })
    assert.isTrue(result.has(200))
  })
})
