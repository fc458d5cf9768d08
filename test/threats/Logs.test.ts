import { assert, it } from "@effect/vitest"
import { connect } from "node:net"
import { report } from "../support/proofs/Figures.ts"
import { head } from "../support/proofs/Sockets.ts"
import { type Running, key, start } from "../support/proofs/Running.ts"
import { until } from "../support/Until.ts"

/** Texts that could forge a log line, move the cursor or end a string. */
const hostileTexts = [
  "a\r\nb",
  "a\nINFO forged",
  "a\rb",
  "a\0b",
  "\u001b[31mred\u001b[0m",
  "\u001b]0;title\u0007",
  "a\u0085b",
  "a\u2028b\u2029c",
  "\u009b2J",
  "\b\b\b",
  "\u202etxt.exe",
  '"}\n{"message":"forged","level":"INFO"}',
  "%0d%0aforged",
  "${jndi:ldap://127.0.0.1/a}",
  "\ud800"
]

/** Secrets that must not be logged. */
const secrets = { token: "tok-3f9d1c77", password: "pw-88c2e01b", cookie: "ck-61f0aa93", metrics: "metrics-token-5521" }

const bodies = (text: string): ReadonlyArray<readonly [method: string, path: string, body: unknown]> => [
  ["POST", "/v1/locations", { name: text, identifier: text, description: text }],
  ["POST", "/v1/users", { username: text, email: text, firstName: text }],
  ["POST", "/v1/groups", { name: text, [text]: text }],
  ["POST", "/v1/products", { type: text, name: text, identifier: text }],
  ["POST", "/v1/posts", { type: text, translations: [{ locale: text, title: text, body: text }] }],
  ["POST", "/v1/meta-tags", { key: text, type: "text" }],
  ["POST", "/v1/asset-categories", { key: text, translations: [{ locale: "en", name: text }] }],
  ["POST", "/v1/uploads/init-multi-part", { fileName: text, fileSize: 1, contentType: text }],
  ["PUT", "/v1/uploads/complete-multi-part", { uuid: text, parts: [{ partNumber: 1, eTag: text }] }],
  ["POST", "/v1/assets", { fileUuid: text, categories: [text] }],
  ["POST", "/v1/api-keys", { name: text, permissions: ["read:users"] }]
]

/** Sends requests with the text in every possible place. */
const sendEverywhere = async ({ call, url }: Running, text: string) => {
  const encoded = encodeURIComponent(text.toWellFormed())
  for (const [method, path, body] of bodies(text)) await call(method, path, body)
  for (const path of [
    `/v1/assets/search?search=${encoded}&locale=${encoded}`,
    `/v1/users?filter=${encoded}&sortBy=${encoded}`,
    `/v1/users?${encoded}=${encoded}`,
    `/v1/users/${encoded}`,
    `/${encoded}`,
    `/files/${encoded}/${encoded}?signature=${secrets.token}`
  ])
    await call("GET", path)
  // Headers take only Latin-1 without line breaks; others are written to the socket below.
  // oxlint-disable-next-line no-control-regex -- the characters to replace
  const header = text.replaceAll(/[\r\n\0]|[^\t\u0020-\u007e\u0080-\u00ff]/g, "_")
  const headers = {
    "x-request-id": header,
    "user-agent": header,
    referer: header,
    authorization: header,
    accept: header
  }
  await fetch(`${url}/v1/users?token=${secrets.token}&password=${secrets.password}`, { headers })
  await fetch(`${url}/v1/users`, { headers: { authorization: key, "if-match": header, cookie: `s=${secrets.cookie}` } })
}

const write = (url: string, bytes: string) =>
  new Promise<void>((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.end(bytes, "latin1"))
    socket.setTimeout(2000, () => socket.destroy())
    socket.on("data", () => undefined)
    socket.on("error", () => undefined)
    socket.on("close", () => resolve())
  })

it("the log has one JSON object per line and contains no credentials of requests", async (ctx) => {
  await using running = await start({ LOG_LEVEL: "trace", METRICS_TOKEN: secrets.metrics })
  const { call, service, sql, url } = running
  for (const text of hostileTexts) await sendEverywhere(running, text)
  for (const text of hostileTexts) {
    await write(url, head("GET", "/v1/me", key, `X-Request-Id: ${text}`, `User-Agent: ${text}`, "Connection: close"))
    await write(url, head("GET", `/v1/${text}`, key, "Connection: close"))
    await write(url, `${text} / HTTP/1.1\r\nAuthorization: ${key}\r\n\r\n`)
  }
  for (const token of [secrets.metrics, "wrong"])
    await fetch(`${url}/metrics?token=${secrets.token}`, { headers: { authorization: `Bearer ${token}` } })
  // A key that is created, rotated and used; a part that is sent with its signature.
  const created = await call("POST", "/v1/api-keys", { name: "A", permissions: ["create:uploads"] })
  const rotated = await call("POST", `/v1/api-keys/${created.body.data.uuid}/rotate`, {})
  const session = await call("POST", "/v1/uploads/init-multi-part", { fileName: "a.txt", fileSize: 3 })
  const part: string = session.body.data.parts[0].url
  await fetch(part, { method: "PUT", body: "abc" })
  await fetch(part.replace("signature=", "Signature=x&signature="), { method: "PUT", body: "abc" })
  // Unexpected failures, which are logged with their cause.
  await sql.unsafe("alter table locations rename to gone")
  const failed = await call("POST", "/v1/locations", { name: "B", identifier: secrets.password })
  assert.strictEqual(failed.status, 500)
  const last = await fetch(`${url}/v1/locations?filter=name:equals:${secrets.token}`, {
    headers: { authorization: key }
  })
  await sql.unsafe("alter table gone rename to locations")
  const output = await until("the log has the last failure", () => {
    const output = service.output()
    return output.includes(last.headers.get("x-request-id")!) && output.endsWith("\n") && output
  })

  const lines = output.split("\n").filter((line) => line !== "")
  const broken = lines.filter((line) => {
    try {
      const event: unknown = JSON.parse(line)
      return typeof event !== "object" || event === null || !("message" in event) || !("level" in event)
    } catch {
      return true
    }
  })
  // oxlint-disable-next-line no-control-regex -- the characters that must not occur
  const raw = lines.filter((line) => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line))
  const forged = lines.filter((line) => JSON.parse(line).message === "forged")
  const signature = new URL(part).searchParams.get("signature")!
  const keys = [key, created.body.data.key, rotated.body.data.key].flatMap((held: string) => [
    held,
    held.split("_")[2]!
  ])
  const disclosed = [...keys, signature, ...Object.values(secrets)].filter((secret) => output.includes(secret))
  await report(ctx, {
    lines: lines.length,
    "not JSON": broken.length,
    "with control characters": raw.length,
    secrets: disclosed.length
  })
  assert.isAbove(lines.length, 300)
  assert.deepStrictEqual(broken, [])
  assert.deepStrictEqual(raw, [])
  assert.deepStrictEqual(forged, [])
  assert.deepStrictEqual(disclosed, [])
  assert.isTrue(lines.some((line) => line.includes(failed.body.requestId) && JSON.parse(line).level === "ERROR"))
})
