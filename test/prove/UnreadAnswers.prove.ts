import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, duringAttack, figures, keyWith, neverRead, readSlowly } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { head } from "../support/proofs/Sockets.ts"
import { counted } from "../support/Tally.ts"

const posts = 70
/** Together the bodies are a page of 13 MiB. */
const body = `<p>${"a".repeat(189_000)}</p>`

const largePosts = async (running: Running.Running) => {
  for (let number = 0; number < posts; number++) {
    await running.create("/v1/posts", {
      type: "news",
      slug: `big-${number}`,
      translations: [{ locale: "en", title: `Big ${number}`, body }]
    })
  }
}

/** How often each status came when another key repeated a page of more than 16 KiB until the attack ended. */
const pagesDuring = async (running: Running.Running, attack: () => Promise<unknown>) => {
  const key = await keyWith(running, "read:locations")
  const statuses = new Map<number, number>()
  const ending = new AbortController()
  const ended = attack().finally(() => ending.abort())
  while (!ending.signal.aborted) {
    await sleep(100)
    const answer = await fetch(`${running.url}/v1/locations?limit=250`, { headers: { authorization: key } })
    assert.isAbove((await answer.arrayBuffer()).byteLength, answer.ok ? 16 * 1024 : 0)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
  await ended
  return statuses
}

describe("answers that clients do not read", () => {
  for (const keys of [1, 60]) {
    it(`60 unread pages of 13 MiB of ${keys === 1 ? "one key" : `${keys} keys`} leave memory and time to other keys`, async (ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, 1000)
      await largePosts(running)
      const readers = await Promise.all(Array.from({ length: keys }, () => keyWith(running, "read:posts")))
      const path = `/v1/posts?limit=${posts}&filter=slug:startsWith:big`
      const requests = Array.from({ length: 60 }, (_, index) => head("GET", path, readers[index % keys]!))
      const { alone, during, peak } = await duringAttack(running, () => neverRead(running.url, requests, 15))
      await report(ctx, { ...figures(alone, during), "RSS MB": peak })
      const page = await running.call("GET", path)
      assert.strictEqual(page.status, 200, page.text)
      assert.isAbove(page.text.length, 13_000_000)
      assertUnharmed(during, { read: 250, write: 250 })
      assert.isAtMost(peak, 600)
    })
  }

  it("pages that two keys read slowly leave other keys their pages", async (ctx) => {
    await using running = await Running.start()
    await Running.locations(running.sql, 1000)
    await largePosts(running)
    const readers = [await keyWith(running, "read:posts"), await keyWith(running, "read:posts")]
    const requests = (limit: number, times: number) =>
      readers.flatMap((key) =>
        Array.from({ length: times }, () => head("GET", `/v1/posts?limit=${limit}&filter=slug:startsWith:big`, key))
      )
    const { alone, during, peak, result } = await duringAttack(running, () =>
      pagesDuring(running, () => readSlowly(running.url, [...requests(posts, 10), ...requests(1, 40)], 15))
    )
    await report(ctx, { ...figures(alone, during), pages: counted(result), "RSS MB": peak })
    assert.deepStrictEqual([...result.keys()], [200])
    assertUnharmed(during, { read: 250, write: 250 })
    assert.isAtMost(peak, 600)
  })
})
