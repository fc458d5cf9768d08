import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { report } from "../support/proofs/Figures.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import { converse, head } from "../support/proofs/Sockets.ts"

/** Requests that a key may have in flight: the part `KEY_SHARE` of `MAX_IN_FLIGHT`. */
const share = 384

describe("slow bodies of one key", () => {
  for (const connections of [530, 2000]) {
    it(`${connections} bodies of one key that never arrive leave other keys their places`, async (ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, 1000)
      const key = await keyWith(running, "create:users")
      const request = head("POST", "/v1/users", key, "Content-Type: application/json", "Content-Length: 1000")
      let open = 0
      const { alone, during } = await duringAttack(running, () =>
        Promise.all(
          Array.from({ length: connections }, () =>
            converse(running.url, async (socket, heard) => {
              socket.write(`${request}{"a`)
              await sleep(5000)
              if (!socket.destroyed && heard() === "") open++
              await sleep(5000)
              socket.destroy()
            })
          )
        )
      )
      await report(ctx, { ...figures(alone, during), "open after 5 s": open })
      assert.isAtLeast(open, share)
      assertUnharmed(during, { read: 250, write: 250 })
    })
  }
})
