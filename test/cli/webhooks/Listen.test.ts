import { assert, describe, it } from "vitest"
import { Webhook } from "standardwebhooks"
import { start } from "../../support/cli/Command.ts"
import { freePort } from "../../support/Services.ts"
import { until } from "../../support/Until.ts"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

/** Sends a message with a signature, once the receiver listens. */
const post = (port: number, key: string, seconds = Date.now() / 1000) => {
  const body = '{"type":"location.updated"}'
  const at = new Date(seconds * 1000)
  const headers = {
    "webhook-id": "msg-1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(key).sign("msg-1", at, body)
  }
  return until("the receiver listens", () =>
    fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", body, headers }).then(
      ({ status }) => status,
      () => undefined
    )
  )
}

describe("waypost webhooks listen", () => {
  it("prints requests, and accepts those with the right signature only", async () => {
    const port = await freePort()
    const { process, result } = start(["webhooks", "listen", "--port", String(port), "--secret", secret])
    assert.strictEqual(await post(port, secret), 204)
    assert.strictEqual(await post(port, `whsec_${Buffer.alloc(32, 8).toString("base64")}`), 400)
    assert.strictEqual(await post(port, secret, Date.now() / 1000 - 400), 400)
    process.kill("SIGINT")
    const { out } = await result
    assert.include(out, `POST /hook msg-1 (signature verified)\n{"type":"location.updated"}`)
    assert.lengthOf(out.match(/WRONG SIGNATURE/g) ?? [], 2)
  })

  it("rejects a secret of another form", async () => {
    const { code, err } = await start(["webhooks", "listen", "--secret", "abc"]).result
    assert.strictEqual(code, 1)
    assert.include(err, "A secret begins with whsec_")
  })
})
