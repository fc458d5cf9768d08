import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, besideAttack, figures, keyWith, neverRead } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { head } from "../support/proofs/Sockets.ts"

const posts = 70
/** Together the bodies are a page of 13 MiB. */
const body = `<p>${"a".repeat(189_000)}</p>`

describe("answers that clients do not read", () => {
  for (const keys of [1, 60]) {
    it(`60 unread pages of 13 MiB of ${keys === 1 ? "one key" : `${keys} keys`} leave memory and time to other keys`, async (ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, 1000)
      for (let number = 0; number < posts; number++) {
        await running.create("/v1/posts", {
          type: "news",
          slug: `big-${number}`,
          translations: [{ locale: "en", title: `Big ${number}`, body }]
        })
      }
      const readers = await Promise.all(Array.from({ length: keys }, () => keyWith(running, "read:posts")))
      const path = `/v1/posts?limit=${posts}&filter=slug:startsWith:big`
      const requests = Array.from({ length: 60 }, (_, index) => head("GET", path, readers[index % keys]!))
      const { alone, during, peak } = await besideAttack(running, () => neverRead(running.url, requests, 15))
      await report(ctx, { ...figures(alone, during), "RSS MB": peak })
      const page = await running.call("GET", path)
      assert.strictEqual(page.status, 200, page.text)
      assert.isAbove(page.text.length, 13_000_000)
      assertUnharmed(during, { read: 250, write: 250 })
      assert.isAtMost(peak, 600)
    })
  }
})
