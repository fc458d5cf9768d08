import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { CliOutput } from "effect/cli"
import * as KeyTable from "../../../src/cli/keys/KeyTable.ts"
import { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"

const now = DateTime.makeUnsafe("2026-11-28T00:00:00Z")

const keyOf = (name: string) => ({
  uuid: ApiKeyId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"),
  name,
  prefix: "wp_1",
  permissions: [],
  createdAt: now
})

describe("the list of keys", () => {
  it("keys list keeps its columns aligned where a name has letters that are two columns wide", () => {
    const lines = KeyTable.list([keyOf("東京の店"), keyOf("Utrecht")], now).split("\n")
    const starts = lines.slice(1).map((line) => CliOutput.displayWidth(line.slice(0, line.indexOf("active"))))
    assert.deepStrictEqual(starts, [18, 18])
  })
})
