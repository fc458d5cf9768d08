import { assert, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { createHash } from "node:crypto"
import { Sql } from "../../src/sql/Sql.ts"
import { keyOf, unknownKey } from "../support/requests/Requests.ts"
import { report } from "../support/proofs/Figures.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }

const parts = (key: string) => {
  const [, id, rest] = key.split("_") as [string, string, string]
  return { id, secret: rest.slice(0, 43), sum: rest.slice(43) }
}
const changed = (text: string) => text.slice(0, -1) + (text.endsWith("0") ? "1" : "0")

/** Headers with an altered key, or with the key in the wrong place. */
const variantsOf = (key: string): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const { id, secret, sum } = parts(key)
  const named = (value: string) => ({ authorization: value })
  return {
    "no header": {},
    "an empty one": named(""),
    spaces: named("   "),
    "a scheme alone": named("Bearer"),
    "a scheme and spaces": named("Bearer   "),
    "two schemes": named(`Bearer Bearer ${key}`),
    "another scheme": named(`Basic ${Buffer.from(`${key}:`).toString("base64")}`),
    "an unknown scheme": named(`Token ${key}`),
    "a scheme without a space": named(`Bearer${key}`),
    "a scheme with a colon": named(`Bearer: ${key}`),
    "another secret": named(keyOf(id, changed(secret))),
    "another id": named(keyOf(changed(id), secret)),
    "a wrong checksum": named(`wp_${id}_${secret}${changed(sum)}`),
    "no checksum": named(`wp_${id}_${secret}`),
    "the id alone": named(`wp_${id}`),
    "the secret alone": named(secret),
    "one character less": named(key.slice(0, -1)),
    "one character more": named(`${key}0`),
    "upper case": named(key.toUpperCase()),
    "lower case": named(key.toLowerCase()),
    "the hash of the secret": named(keyOf(id, createHash("sha256").update(secret).digest("hex").slice(0, 43))),
    "quotes around it": named(`"${key}"`),
    "two keys": named(`${key}, ${key}`),
    "a key after a wrong one": named(`${unknownKey}, ${key}`),
    "a space inside": named(key.replace("_", "_ ")),
    "percent signs": named(encodeURIComponent(key).replaceAll("_", "%5F")),
    "an injection": named(`wp_' or '1'='1_${secret}${sum}`),
    "10,000 characters": named(`Bearer ${"a".repeat(10_000)}`),
    "x-api-key": { "x-api-key": key },
    "a cookie": { cookie: `authorization=${key}; apiKey=${key}` },
    "proxy-authorization": { "proxy-authorization": key },
    "x-authorization": { "x-authorization": key, "x-original-authorization": key, "x-forwarded-authorization": key }
  }
}

const trace = Layer.succeed(References.MinimumLogLevel, "Trace")

layer(listening({ LOG_LEVEL: "trace" }).pipe(Layer.provide(trace)), live)("API keys", (it) => {
  it.effect("a key is accepted alone and after either scheme, and every altered form is a 401", (ctx) =>
    Effect.gen(function* () {
      const { key, logs, send } = yield* Wire
      const held = yield* key(["read:users"])
      for (const right of [
        held,
        `Bearer ${held}`,
        `bearer ${held}`,
        `BEARER   ${held}`,
        `ApiKey ${held}`,
        `apikey ${held}  `
      ])
        assert.strictEqual((yield* send("GET", "/v1/users", { key: right })).status, 200, right)
      const answers = yield* Effect.forEach(Object.entries(variantsOf(held)), ([name, headers]) =>
        Effect.map(send("GET", "/v1/users", { key: null, headers }), (answer) => ({ name, ...answer }))
      )
      for (const { body, headers, name, status } of answers) {
        assert.deepStrictEqual(
          [status, body._tag, headers["www-authenticate"]],
          [401, "UnauthorizedError", "ApiKey"],
          name
        )
      }
      const queries = ["authorization", "apiKey", "api_key", "access_token", "token", "key"]
      for (const name of queries)
        assert.strictEqual((yield* send("GET", `/v1/users?${name}=${held}`, { key: null })).status, 401, name)
      yield* Effect.promise(() =>
        report(ctx, { "header variants rejected": answers.length, "queries rejected": queries.length })
      )
      // The responses for a known id and an unknown id are indistinguishable.
      const [secret, id] = ["another secret", "another id"].map((name) =>
        answers.find((answer) => answer.name === name)!
      )
      assert.deepStrictEqual({ ...secret!.body, requestId: "" }, { ...id!.body, requestId: "" })
      const shape = ({ headers }: (typeof answers)[number]) =>
        Object.entries({ ...headers, date: "", "x-request-id": "" })
      assert.deepStrictEqual(shape(secret!), shape(id!))
      assert.isAbove(logs.length, 0)
    })
  )

  it.effect("a request with two Authorization headers is a 401", () =>
    Effect.gen(function* () {
      const { fullKey, raw } = yield* Wire
      const line = (value: string) => `Authorization: ${value}\r\n`
      const lines = [
        line(fullKey) + line(unknownKey),
        line(unknownKey) + line(fullKey),
        line(fullKey) + line(fullKey),
        line(fullKey) + line(""),
        line("") + line(fullKey),
        `${line(fullKey)}authorization: ${fullKey}\r\n`
      ]
      for (const sent of lines) {
        const { body, status } = yield* raw(
          `GET /v1/me HTTP/1.1\r\nHost: waypost.test\r\nConnection: close\r\n${sent}\r\n`
        )
        assert.deepStrictEqual([status, body._tag], [401, "UnauthorizedError"], sent)
      }
    })
  )

  it.effect("a revoked key is rejected from the next request on, and within a second in other processes", (ctx) =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const { pooled } = yield* Sql
      const late: Array<number> = []
      const uuidOf = (held: string) => Effect.map(send("GET", "/v1/me", { key: held }), ({ body }) => body.data.uuid)
      const mine = yield* key(["read:users"])
      yield* send("DELETE", `/v1/api-keys/${yield* uuidOf(mine)}`)
      const { body, status } = yield* send("GET", "/v1/me", { key: mine })
      assert.deepStrictEqual([status, body.reason], [401, "revoked"])
      for (let round = 0; round < 3; round++) {
        const held = yield* key(["read:users"])
        const uuid = yield* uuidOf(held)
        // Revoke it as another process would, without notifying this one.
        yield* pooled.unsafe("update api_keys set revoked_at = now() where uuid = $1", [uuid])
        const revoked = performance.now()
        let opened = revoked
        for (let answered = 200; answered === 200;) {
          const asked = performance.now()
          answered = (yield* send("GET", "/v1/me", { key: held })).status
          if (answered === 200) opened = asked
          else assert.strictEqual(answered, 401)
        }
        late.push(opened - revoked)
      }
      yield* Effect.promise(() => report(ctx, { "accepted for another ms at most": Math.max(...late) }))
      assert.isBelow(Math.max(...late), 1000)
    })
  )

  it.effect("a key is in no log line and in no response except the one that creates it", (ctx) =>
    Effect.gen(function* () {
      const { fullKey, key, logs, send } = yield* Wire
      const { pooled } = yield* Sql
      const bodies: Array<string> = []
      const ask = (...sent: Parameters<typeof send>) =>
        Effect.map(send(...sent), (answer) => {
          bodies.push(answer.text, JSON.stringify(answer.headers))
          return answer
        })
      const created = (yield* send("POST", "/v1/api-keys", {
        body: JSON.stringify({ name: "A", permissions: ["read:users"] })
      })).body.data
      const rotated = (yield* send("POST", `/v1/api-keys/${created.uuid}/rotate`, { body: "{}" })).body.data
      const issued: ReadonlyArray<string> = [fullKey, created.key, rotated.key, yield* key(["read:groups"])]
      for (const held of issued) {
        for (const headers of Object.values(variantsOf(held))) yield* ask("GET", "/v1/users", { key: null, headers })
        yield* ask("GET", `/v1/users?token=${held}&filter=${held}`, { key: held })
        yield* ask("GET", `/v1/users/${held}`, { key: held })
        yield* ask("GET", `/${held}`, { key: held })
        yield* ask("POST", "/v1/api-keys", { key: held, body: JSON.stringify({ name: held, permissions: [held] }) })
        yield* ask("GET", "/v1/me", { key: held })
      }
      yield* ask("GET", "/v1/api-keys")
      yield* ask("GET", `/v1/api-keys/${created.uuid}`)
      yield* pooled.unsafe("alter table api_keys rename to gone")
      const { id, secret } = parts(fullKey)
      assert.strictEqual(
        (yield* ask("GET", "/v1/me", { key: keyOf(id.split("").toReversed().join(""), secret) })).status,
        500
      )
      yield* pooled.unsafe("alter table gone rename to api_keys")
      const secrets = issued.flatMap((held) => [held, parts(held).secret])
      const rows = yield* pooled.unsafe<{ readonly hash: string }>(
        "select encode(secret_hash, 'hex') as hash from api_keys"
      )
      const hashes = rows.flatMap(({ hash }) => [hash, Buffer.from(hash, "hex").toString("base64")])
      const materials = [...secrets, ...hashes]
      const disclosing = (texts: ReadonlyArray<string>) =>
        texts.filter((text) => materials.some((material) => text.includes(material)))
      const [lines, answers] = [disclosing(logs), disclosing(bodies)]
      yield* Effect.promise(() =>
        report(ctx, {
          "log lines": logs.length,
          answers: bodies.length / 2,
          "that disclose a key": lines.length + answers.length
        })
      )
      assert.isAbove(logs.length, 50)
      assert.isAtLeast(hashes.length, 2 * issued.length)
      assert.deepStrictEqual([lines, answers], [[], []])
    })
  )
})
