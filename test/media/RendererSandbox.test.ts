import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type FileSystem, Path } from "effect"
import { existsSync } from "node:fs"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import * as RendererProcess from "../../src/media/RendererProcess.ts"
import * as RendererSandbox from "../../src/media/RendererSandbox.ts"
import { file } from "./Rendering.ts"

const program = fileURLToPath(new URL("escape.ts", import.meta.url))
const outside = fileURLToPath(new URL("Rendering.ts", import.meta.url))

/** A port of this machine that accepts connections. */
const port = Effect.gen(function* () {
  const server = createServer((socket) => socket.end())
  yield* Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
})

/** What code in place of the decoders could do. */
const attempts = Effect.fnUntraced(function* (sandbox: RendererSandbox.RendererSandbox) {
  const child = yield* RendererProcess.start({ searchPath: "/nowhere", sandbox, program })
  const lent = (yield* Path.Path).join(child.folder, "source")
  yield* RendererSandbox.lend(sandbox, yield* file(new Uint8Array(10)), lent)
  const answer = yield* child.ask({ path: lent, mimeType: String(yield* port), wanted: [] })
  assert.strictEqual(answer._tag, "Refused")
  return JSON.parse("reason" in answer ? answer.reason : "") as Readonly<Record<string, unknown>>
})

const test = <E>(
  title: string,
  effect: Effect.Effect<void, E, Effect.Services<ReturnType<typeof attempts>> | FileSystem.FileSystem>
) => it.live(title, () => effect.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

describe("the sandbox of the process that decodes", () => {
  test(
    "code in it reads its file and no other, and writes to no other folder",
    Effect.gen(function* () {
      const outcomes = yield* attempts({ withoutNetwork: [], user: undefined })
      assert.strictEqual(outcomes["own"], "done")
      for (const name of ["passwd", "outside", "write"]) assert.strictEqual(outcomes[name], "ERR_ACCESS_DENIED", name)
      assert.isFalse(existsSync(`${outside}.escaped`))
    })
  )

  test(
    "code in it opens no connection where a network namespace is permitted",
    Effect.gen(function* () {
      const { withoutNetwork } = yield* RendererSandbox.detect
      // The same code connects without it, so the failure below is that of the sandbox.
      assert.strictEqual((yield* attempts({ withoutNetwork: [], user: undefined }))["connected"], "done")
      const { connected } = yield* attempts({ withoutNetwork, user: undefined })
      assert.strictEqual(connected, withoutNetwork.length > 0 ? "ENETUNREACH" : "done")
    })
  )

  test(
    "it runs as another user where the service runs as root",
    Effect.gen(function* () {
      const sandbox = yield* RendererSandbox.detect
      const { own, user } = yield* attempts(sandbox)
      assert.strictEqual(own, "done")
      assert.strictEqual(user, sandbox.user ?? process.getuid?.())
      if (process.getuid?.() === 0 && sandbox.user !== undefined) assert.notStrictEqual(user, 0)
    })
  )
})
