import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Result } from "effect"
import { Settings } from "../../../src/settings/Config.ts"
import { Egress, inTurn, Lookup } from "../../../src/services/webhooks/Egress.ts"
import { Sender } from "../../../src/services/webhooks/Sender.ts"
import { receiver } from "../../support/requests/WebhookRequests.ts"

type Names = Readonly<Record<string, ReadonlyArray<string>>>

const layerOf = (settings: Readonly<Record<string, string>>, names: Names = {}) => {
  const lookup = (host: string) =>
    names[host] === undefined ? Promise.reject(new Error("Unknown")) : Promise.resolve(names[host])
  return Egress.layer.pipe(
    Layer.provide(Layer.succeed(Lookup, lookup)),
    Layer.provide(Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))))
  )
}

const http = { WEBHOOK_ALLOW_HTTP: "true" }
const local = { ...http, WEBHOOK_ALLOW_PRIVATE: "true" }

/** The addresses of a URL, or why it is forbidden. */
const targetOf = (url: string, settings: Readonly<Record<string, string>> = {}, names: Names = {}) =>
  Effect.flatMap(Egress, (egress) => Effect.result(egress.target(url))).pipe(
    Effect.map(Result.match({ onFailure: ({ message }) => message, onSuccess: ({ addresses }) => addresses.join() })),
    Effect.provide(layerOf(settings, names))
  )

const notPublic = "leads to an address that is not on the internet"

const forbidden = `
  127.0.0.1 127.1 2130706433 0x7f000001 017700000001 0x7f.0.0.1 0177.0.0.1 127.0.0.1. ①②⑦.⓪.⓪.①
  %31%32%37.0.0.1 0 0.0.0.0 10.0.0.1 0xa000001 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1
  100.127.255.255 169.254.169.254 0xa9fea9fe 2852039166 192.0.0.192 168.63.129.16 100.100.100.200
  198.18.0.1 192.0.2.1 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 [::] [::1]
  [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:93.184.216.34] [::127.0.0.1]
  [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::1] [2002:7f00:1::] [2001:0:4136:e378::1] [fe80::1]
  [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1] [2001:db8::1] [2606:4700::5efe:7f00:1]
  [2606:4700::200:5efe:a00:1]`
  .trim()
  .split(/\s+/)

describe("the guard of webhooks", () => {
  it.effect("allows https, ports 80, 443 and from 1024 on, and no credentials", () =>
    Effect.gen(function* () {
      for (const [url, expected] of [
        ["https://93.184.216.34/hook", "93.184.216.34"],
        ["https://93.184.216.34:80", "93.184.216.34"],
        ["https://93.184.216.34:1024", "93.184.216.34"],
        ["https://[2606:4700::1111]", "2606:4700::1111"],
        ["http://93.184.216.34", "must begin with https://"],
        ["ftp://93.184.216.34", "must begin with https://"],
        ["https://93.184.216.34:22", "must have port 80, 443, or 1024 or above"],
        ["https://93.184.216.34:1023", "must have port 80, 443, or 1024 or above"],
        ["https://a@93.184.216.34", "must not have a user name or a password"],
        ["https://a:b@93.184.216.34", "must not have a user name or a password"],
        ["https://", "is no URL"]
      ] as const) {
        assert.strictEqual(yield* targetOf(url), expected, url)
      }
      assert.strictEqual(yield* targetOf("http://93.184.216.34", http), "93.184.216.34")
      assert.strictEqual(yield* targetOf("ftp://93.184.216.34", http), "must begin with https://")
    })
  )

  it.effect("forbids private, local, reserved and embedded addresses in every spelling", () =>
    Effect.gen(function* () {
      for (const host of forbidden) {
        const message = yield* targetOf(`https://${host}/`)
        assert.strictEqual(message, notPublic, host)
      }
      for (const host of [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "localhost.localdomain",
        "localhost%2e"
      ]) {
        assert.strictEqual(yield* targetOf(`https://${host}/`), "must not lead to this machine", host)
      }
    })
  )

  it.effect("allows private networks where the setting does, and never metadata services, links and groups", () =>
    Effect.gen(function* () {
      for (const host of ["127.0.0.1", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[::1]", "[fd12::1]"]) {
        assert.notInclude(yield* targetOf(`https://${host}/`, local), " ", host)
      }
      assert.strictEqual(yield* targetOf("http://localhost:8080/", local), "127.0.0.1")
      for (const host of [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "224.0.0.1",
        "0.0.0.0",
        "[::ffff:10.0.0.1]"
      ]) {
        assert.strictEqual(yield* targetOf(`https://${host}/`, local), notPublic, host)
      }
    })
  )

  it.effect("a host with any forbidden address is forbidden, and so is one that does not resolve", () =>
    Effect.gen(function* () {
      const names = {
        "good.example": ["93.184.216.34", "2606:4700::1111"],
        "mixed.example": ["93.184.216.34", "127.0.0.1"],
        "mapped.example": ["::ffff:10.0.0.1"],
        "empty.example": []
      }
      assert.strictEqual(yield* targetOf("https://good.example", {}, names), "93.184.216.34,2606:4700::1111")
      assert.strictEqual(yield* targetOf("https://mixed.example", {}, names), notPublic)
      assert.strictEqual(yield* targetOf("https://mapped.example", {}, names), notPublic)
      for (const host of ["empty.example", "unknown.example"]) {
        assert.strictEqual(yield* targetOf(`https://${host}`, {}, names), `has a host that does not resolve: ${host}`)
      }
    })
  )

  it.live("the system looks up one host at a time, each once, and none that has waited for too long", () =>
    Effect.gen(function* () {
      const dead = Promise.withResolvers<string>()
      const begun: Array<string> = []
      const lookup = inTurn((host) => {
        begun.push(host)
        return host === "dead.example" ? dead.promise : Promise.resolve(host)
      }, 1000)
      const [first, late] = ["dead.example", "late.example"].map((host) => lookup(host).catch(String))
      yield* Effect.sleep("1100 millis")
      const next = lookup("next.example")
      assert.strictEqual(lookup("next.example"), next)
      assert.deepStrictEqual(begun, ["dead.example"])
      dead.reject(new Error("No server answers"))
      const results = yield* Effect.promise(() => Promise.all([first, late, next]))
      assert.deepStrictEqual(results, [
        "Error: No server answers",
        "Error: Other lookups take too long",
        "next.example"
      ])
      assert.deepStrictEqual(begun, ["dead.example", "next.example"])
    })
  )

  it.live("the connection goes to the address of the only lookup, whatever the name means by then", () =>
    Effect.gen(function* () {
      const [first, other] = [yield* receiver, yield* receiver]
      const port = new URL(first.url).port
      let lookups = 0
      // The second answer leads to another receiver, which a second lookup would find.
      const lookup = () => Promise.resolve([lookups++ === 0 ? "127.0.0.1" : "127.0.0.2"])
      const layer = Sender.layer.pipe(
        Layer.provide(Egress.layer),
        Layer.provide(Layer.succeed(Lookup, lookup)),
        Layer.provide(Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(local)))))
      )
      const message = { url: `http://shop.example:${port}/hook`, headers: {}, body: "{}" }
      const sent = yield* Effect.provide(
        Effect.flatMap(Sender, (sender) => sender.send(message)),
        layer
      )
      assert.deepStrictEqual([sent.status, lookups, first.received.length, other.received.length], [204, 1, 1, 0])
      assert.strictEqual(first.received[0]!.headers.host, `shop.example:${port}`)
    }).pipe(Effect.scoped)
  )
})
