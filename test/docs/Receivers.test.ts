import { assert, describe, it } from "vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Webhook } from "standardwebhooks"
import { own } from "../support/Children.ts"
import { freePort } from "../support/Services.ts"
import { until } from "../support/Until.ts"
import { parse } from "./Guide.ts"

const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`
const body = '{"type":"location.updated","data":{"record":{"label":"Café"}}}'

describe("The receiver for Node.js in the guide to webhooks", () => {
  it("accepts a request with a right signature, also beside another one, and no other request", async () => {
    const { text } = parse("docs/webhooks.md").samples.find(({ name }) => name === "receiver.mjs")!
    const port = await freePort()
    const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
      env: { PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: "ignore"
    })
    own(child)
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
          () => undefined
        )
      )
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
    child.kill()
    await once(child, "exit")
  })
})
