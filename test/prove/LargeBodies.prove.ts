import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { withMemory } from "../support/proofs/Load.ts"
import * as Running from "../support/proofs/Running.ts"
import { answersIn, converse, head, tagOf } from "../support/proofs/Sockets.ts"

const megabyte = 1_000_000
const size = 100 * megabyte
const maxAccepted = 15 * megabyte
const piece = Buffer.alloc(64 * 1024, "a")
const json = "Content-Type: application/json"
const length = `Content-Length: ${size}`
const chunked = "Transfer-Encoding: chunked"

const bodies = [
  ["a length", "POST", "/v1/locations", [json, length], 413, "PayloadTooLargeError"],
  ["chunks", "POST", "/v1/locations", [json, chunked], 413, "PayloadTooLargeError"],
  ["another type", "POST", "/v1/locations", ["Content-Type: text/csv", length], 415, "UnsupportedMediaTypeError"],
  ["an unknown path", "POST", "/v1/nothing", [json, length], 404, "RouteNotFoundError"]
] as const

/** Sends a string of 100 MB as fast as the service reads it. */
const send = (url: string, method: string, path: string, lines: ReadonlyArray<string>) =>
  converse(url, async (socket) => {
    const framed = lines.includes(chunked)
    const frame = framed
      ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
      : piece
    socket.write(head(method, path, Running.key, ...lines))
    socket.write(framed ? `1\r\n"\r\n` : `"`)
    for (let sent = 0; sent < size && socket.writable; sent += piece.length) {
      if (socket.write(frame)) continue
      await new Promise<void>((resolve) => {
        for (const event of ["drain", "close"]) socket.once(event, resolve)
      })
    }
    socket.end()
  })

describe("oversized bodies", () => {
  it("a body of 100 MB is rejected with an envelope, after at most 15 MB, without buffering it", async (ctx) => {
    await using running = await Running.start()
    const { call, pid, url } = running
    // Warm up with the same errors for small bodies, so that only the cost of the size is measured.
    for (const [, method, path] of bodies) await call(method, path, "{")
    const { before, peak, result } = await withMemory(pid, async () => {
      const all = []
      for (const [label, method, path, lines, status, tag] of bodies)
        all.push({ label, status, tag, heard: await send(url, method, path, lines) })
      return all
    })

    const maxSent = Math.max(...result.map(({ heard }) => heard.bytesWritten))
    await report(ctx, {
      statuses: result.map(({ heard }) => answersIn(heard.text)[0]?.status).join(" "),
      "max accepted MB": maxSent / megabyte,
      "growth MB": peak - before
    })
    for (const { heard, label, status, tag } of result) {
      assert.deepStrictEqual(
        answersIn(heard.text).map((answer) => [answer.status, tagOf(answer)]),
        [[status, tag]],
        label
      )
    }
    assert.isAtMost(maxSent, maxAccepted)
    assert.isBelow(peak - before, 30)
    assert.strictEqual((await call("GET", "/v1/me")).status, 200)
  })
})
