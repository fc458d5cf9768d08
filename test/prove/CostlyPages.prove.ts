import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { floodElsewhere } from "../support/proofs/Floods.ts"
import { assertUnharmed, besideAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
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

describe("costly pages of one key", () => {
  it("pages of locations with a hundred media each leave other keys their reads and writes", async (ctx) => {
    await using running = await Running.start()
    const { sql, url } = running
    await Running.locations(sql, 1000)
    await sql`
      insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
      values (gen_random_uuid(), 'a.txt', 'txt', 'text/plain', 1, '', 'a.txt', 'a.txt')`
    await sql`
      insert into assets (uuid, file_uuid, translations)
      select gen_random_uuid(), uuid, '[{"locale":"en","name":"A"}]' from files`
    const [asset] = await sql<ReadonlyArray<{ uuid: string }>>`select uuid from assets`
    const items = Array.from({ length: media }, () => ({ assetUuid: asset!.uuid, role: "exterior" }))
    const owners = await sql<
      ReadonlyArray<{ uuid: string }>
    >`select uuid from locations order by uuid limit ${locations}`
    for (const { uuid } of owners) {
      const answer = await running.call("PUT", `/v1/locations/${uuid}/media`, { items })
      assert.strictEqual(answer.status, 200, answer.text)
    }
    const key = await keyWith(running, "read:locations")
    const { alone, during, result } = await besideAttack(running, () => floodElsewhere(url, 4, 15, { path, key }))
    await report(ctx, { ...figures(alone, during), attacker: [...result].join(" ") })
    // Afterwards, because the service would otherwise know how large these pages are.
    const page = await running.call("GET", path)
    assert.strictEqual(page.status, 200, page.text)
    assert.isAbove(page.text.length, 13_000_000)
    const hasAll = (location: Location) => location.media.items.length === media
    assert.strictEqual(page.body.data.filter(hasAll).length, locations)
    assert.isTrue(result.has(200))
    assertUnharmed(during, { read: 150, write: 400 })
  })
})
