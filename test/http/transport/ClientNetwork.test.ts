import { assert, describe, it } from "@effect/vitest"
import { networkOf } from "../../../src/http/transport/ClientNetwork.ts"

describe("the network of a client", () => {
  for (const [address, network] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8:1:2::9", "2001:db8:1:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", ""]
  ] as const)
    it(`the network of "${address}" is "${network}"`, () => {
      assert.strictEqual(networkOf(address), network)
    })
})
