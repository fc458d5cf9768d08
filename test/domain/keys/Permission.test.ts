import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { all, Permission, presets } from "../../../src/domain/keys/Permission.ts"

/** The contract's list, in its own notation. */
const contract = (
  "read|create|update|delete:users · update:user-roles · read|create|update|delete:locations · read|create|update|delete:groups · read:products · " +
  "read|create|update:assets · create:uploads · read:posts · create|update|delete:products · delete:assets · create|update|delete:posts · " +
  "read|create|update|delete:meta-tags · read|create|delete:api-keys · read|create|update|delete:webhooks · read|delete:events · read:audit · read|create:jobs"
)
  .split(" · ")
  .flatMap((line) => {
    const [actions = "", entity = ""] = line.split(":")
    return actions.split("|").map((action) => `${action}:${entity}`)
  })

const preset = (name: string): ReadonlyArray<string> => presets[name] ?? assert.fail(`no preset ${name}`)

describe("permissions", () => {
  it("the permissions are exactly those of the contract", () => {
    assert.deepStrictEqual([...all].toSorted(), contract.toSorted())
    assert.strictEqual(new Set(all).size, all.length)
  })

  it.each(["*", "read:*", "*:users", "READ:users", "read:user", "update:uploads", "read:users ", ""])(
    "%j is not a permission",
    (text) => assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(Permission)(text)))
  )

  it("there are four presets, each a list of distinct permissions", () => {
    assert.deepStrictEqual(Object.keys(presets).toSorted(), ["dam-ingest", "full", "location-sync", "read-only"])
    for (const list of Object.values(presets)) {
      assert.isNotEmpty(list)
      assert.deepStrictEqual(
        list,
        all.filter((permission) => list.includes(permission))
      )
    }
  })

  it("the presets have the permissions that their names suggest", () => {
    assert.deepStrictEqual(preset("full"), all)
    assert.isTrue(preset("read-only").every((permission) => permission.startsWith("read:")))
    assert.includeMembers(
      [...preset("read-only")],
      ["read:users", "read:locations", "read:groups", "read:products", "read:assets", "read:posts"]
    )
    assert.sameMembers(
      [...preset("location-sync")],
      ["read:locations", "create:locations", "update:locations", "delete:locations"]
    )
    assert.includeMembers([...preset("dam-ingest")], ["create:uploads", "create:assets", "read:assets"])
  })

  it("only the full preset has permissions to create or delete keys", () => {
    const granting = Object.entries(presets).filter(([, list]) =>
      list.some((permission) => /^(?:create|delete):api-keys$/.test(permission))
    )
    assert.deepStrictEqual(
      granting.map(([name]) => name),
      ["full"]
    )
  })
})
