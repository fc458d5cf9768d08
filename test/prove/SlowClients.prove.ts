import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../support/Operations.ts"
import { report } from "../support/proofs/Figures.ts"
import { probe } from "../support/proofs/Load.ts"
import * as Running from "../support/proofs/Running.ts"
import { answersIn, converse, head, tagOf, trickle } from "../support/proofs/Sockets.ts"

const clients = 300
/** New connections per second of either kind. */
const rate = 100
/** Milliseconds between two writes of a slow client. */
const pause = 2000

const headersTimeout = 5000
const bodyTimeout = 15_000

/** Opens connections one after the other; each sends `start` and then `piece` repeatedly. */
const slow = (url: string, start: string, piece: string) =>
  Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      await sleep((index * 1000) / rate)
      return converse(url, async (socket) => {
        socket.write(start)
        await trickle(socket, piece, pause)
      })
    })
  )

describe("slow clients", () => {
  it("600 clients that send headers or bodies slowly get a 408 in time and do not slow down other clients", async (ctx) => {
    await using running = await Running.start({ MAX_IN_FLIGHT: "512" })
    const { sql, url } = running
    const [uuid] = await Running.locations(sql, 1)
    const stop = probe(`${url}${locationPath(uuid!)}`, Running.headers)
    const [headers, bodies] = await Promise.all([
      slow(url, "GET /v1/locations HTTP/1.1\r\nHost: waypost.test\r\n", "X-Slow: 1\r\n"),
      slow(
        url,
        head("POST", "/v1/locations", Running.key, "Content-Type: application/json", "Content-Length: 8192"),
        " "
      )
    ])
    const others = await stop()

    const last = (all: typeof headers) => Math.max(...all.map(({ milliseconds }) => milliseconds))
    await report(ctx, {
      "p99 of others ms": others.p99,
      "slowest of others ms": others.max,
      "headers ended by ms": last(headers),
      "bodies ended by ms": last(bodies)
    })
    for (const [kind, all, limit] of [
      ["headers", headers, headersTimeout],
      ["body", bodies, bodyTimeout]
    ] as const) {
      for (const { text } of all) {
        const answers = answersIn(text)
        assert.deepStrictEqual(
          answers.map((answer) => [answer.status, tagOf(answer)]),
          [[408, "RequestTimeoutError"]],
          kind
        )
      }
      assert.isAtMost(last(all), limit + 1000, kind)
    }
    assert.deepStrictEqual([...others.statuses.keys()], [200])
    assert.isBelow(others.p99, 200)
  })
})
