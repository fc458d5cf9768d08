import { assert, describe, it, onTestFinished } from "vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Webhook } from "standardwebhooks"
import { own } from "../support/Children.ts"
import { freePort } from "../support/Services.ts"
import { until } from "../support/Until.ts"
import { parse } from "./Guide.ts"

const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`
const body = '{"type":"location.updated","data":{"record":{"label":"Café"}}}'

/** Starts the receiver of the guide; `post` returns the status of its answer once it listens. */
const start = async () => {
  const { text } = parse("docs/webhooks.md").samples.find(({ name }) => name === "receiver.mjs")!
  const port = await freePort()
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    env: { PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: "ignore"
  })
  const { stop } = own(child)
  onTestFinished(async () => void (await stop()))
  const post = (signature: string, at: Date, sent = body) =>
    until("the receiver listens", () =>
      fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        body: sent,
        headers: {
          "webhook-id": "1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": signature
        }
      }).then(
        ({ status }) => status,
        () => {
          assert.isNull(child.exitCode, "the receiver ended")
          return undefined
        }
      )
    )
  return { port, post }
}

describe("The receiver for Node.js in the guide to webhooks", () => {
  it("accepts a request with a right signature, also with another one, and no other request", async () => {
    const { post } = await start()
    const now = new Date()
    const old = new Date(Date.now() - 400_000)
    const right = new Webhook(secret).sign("1", now, body)
    const wrong = new Webhook(other).sign("1", now, body)
    assert.deepStrictEqual(
      [
        await post(right, now),
        await post(`${wrong} ${right}`, now),
        await post(wrong, now),
        await post("", now),
        await post(right, now, body.replace("Café", "Cafe")),
        await post(new Webhook(secret).sign("1", old, body), old)
      ],
      [204, 204, 400, 400, 400, 400]
    )
  })

  it("accepts a large body whose characters are divided between its chunks", async () => {
    const { post } = await start()
    const now = new Date()
    const large = "€".repeat(500_000)
    assert.strictEqual(await post(new Webhook(secret).sign("1", now, large), now, large), 204)
  })

  it("answers 400 to a signature that is not ASCII", async () => {
    const { post } = await start()
    const now = new Date()
    const right = new Webhook(secret).sign("1", now, body)
    assert.deepStrictEqual([await post(right.replace(/.$/, "é"), now), await post(right, now)], [400, 204])
  })

  it("goes on after a client that disconnects before its body ends", async () => {
    const { port, post } = await start()
    const now = new Date()
    const right = new Webhook(secret).sign("1", now, body)
    assert.strictEqual(await post(right, now), 204)
    const socket = connect(port, "127.0.0.1")
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    await once(socket, "connect")
    await sleep(100)
    socket.destroy()
    await sleep(100)
    assert.strictEqual(await post(right, now), 204)
  })
})
