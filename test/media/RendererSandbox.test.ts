import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type FileSystem, Option, Path } from "effect"
import { execFileSync } from "node:child_process"
import {
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import * as RendererProcess from "../../src/media/RendererProcess.ts"
import * as RendererSandbox from "../../src/media/RendererSandbox.ts"
import { atBest } from "../support/Until.ts"
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

const isRoot = process.getuid?.() === 0

/** The user that the process has where the service runs as root. */
const sandboxed = { withoutNetwork: [], user: 65_533 }

/** What code in place of the decoders could do. */
const attempts = Effect.fnUntraced(function* (sandbox: RendererSandbox.RendererSandbox) {
  const child = yield* RendererProcess.start({ searchPath: "/nowhere", sandbox, program })
  const lent = (yield* Path.Path).join(child.folder, "source")
  yield* RendererSandbox.lend(sandbox, yield* file(new Uint8Array(10)), lent)
  const answer = yield* child.ask({ path: lent, mimeType: String(yield* port), wanted: [] })
  assert.strictEqual(answer._tag, "Refused")
  return JSON.parse("reason" in answer ? answer.reason : "") as Readonly<Record<string, unknown>>
})

type Scenario<E> = Effect.Effect<void, E, Effect.Services<ReturnType<typeof attempts>> | FileSystem.FileSystem>
const within = <E>(effect: Scenario<E>) => effect.pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const test = <E>(title: string, effect: Scenario<E>) => it.live(title, () => within(effect))

/** Only root gives files to another user. */
const testAsRoot = <E>(title: string, effect: Scenario<E>) => it.live.skipIf(!isRoot)(title, () => within(effect))

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
      const { withoutNetwork } = yield* RendererSandbox.detect(RendererProcess.main())
      // The same code connects without it, so the failure below is that of the sandbox.
      assert.strictEqual((yield* attempts({ withoutNetwork: [], user: undefined }))["connected"], "done")
      const { connected } = yield* attempts({ withoutNetwork, user: undefined })
      assert.strictEqual(connected, withoutNetwork.length > 0 ? "ENETUNREACH" : "done")
    })
  )

  test(
    "it runs as another user where the service runs as root",
    Effect.gen(function* () {
      const sandbox = yield* RendererSandbox.detect(RendererProcess.main())
      const { own, user } = yield* attempts(sandbox)
      assert.strictEqual(own, "done")
      assert.strictEqual(user, sandbox.user ?? process.getuid?.())
      if (process.getuid?.() === 0 && sandbox.user !== undefined) assert.notStrictEqual(user, 0)
    })
  )

  testAsRoot(
    "a link in its folder does not lead the file of a job to another file",
    Effect.gen(function* () {
      const { folder } = yield* RendererSandbox.makeFolder(sandboxed)
      const victim = yield* file(Buffer.from("untouched"))
      const before = statSync(victim)
      const lent = `${folder}/source`
      symlinkSync(victim, lent)
      yield* RendererSandbox.lend(sandboxed, yield* file(Buffer.from("of the job")), lent)
      assert.strictEqual(readFileSync(victim, "utf8"), "untouched")
      assert.deepInclude(statSync(victim), { uid: before.uid, mode: before.mode, ino: before.ino })
      assert.isTrue(lstatSync(lent).isFile())
      assert.deepStrictEqual([readFileSync(lent, "utf8"), statSync(lent).uid], ["of the job", sandboxed.user])
    })
  )

  testAsRoot(
    "the copy of a large file ends when it is interrupted, and leaves no bytes",
    Effect.gen(function* () {
      const { folder, outer } = yield* RendererSandbox.makeFolder(sandboxed)
      const lend = RendererSandbox.lend(sandboxed, "/dev/zero", `${folder}/source`)
      const began = performance.now()
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(Effect.scoped(lend), "100 millis")))
      assert.isBelow(performance.now() - began, 5000)
      assert.deepStrictEqual([readdirSync(outer), readdirSync(folder)], [["files"], []])
    }).pipe(atBest)
  )

  testAsRoot(
    "of its results only files of its own with a plausible size are read",
    Effect.gen(function* () {
      const { folder } = yield* RendererSandbox.makeFolder(sandboxed)
      const [own, link, pipe, large] = ["own", "link", "pipe", "large"].map((name) => `${folder}/${name}`) as [
        string,
        string,
        string,
        string
      ]
      writeFileSync(own, "image")
      writeFileSync(large, "")
      truncateSync(large, 32 * 1024 * 1024 + 1)
      for (const result of [own, large]) chownSync(result, sandboxed.user, sandboxed.user)
      symlinkSync(own, link)
      execFileSync("mkfifo", [pipe])
      assert.strictEqual(Buffer.from(yield* RendererSandbox.result(sandboxed, own)).toString(), "image")
      for (const result of [link, pipe, large, folder, `${folder}/none`]) {
        const { _tag } = yield* Effect.flip(RendererSandbox.result(sandboxed, result))
        assert.strictEqual(_tag, "ImplausibleResultError", result)
      }
      chownSync(own, 0, 0)
      yield* Effect.flip(RendererSandbox.result(sandboxed, own))
    })
  )

  testAsRoot(
    "it cannot put a link in the place of its folder",
    Effect.gen(function* () {
      const { folder, outer } = yield* RendererSandbox.makeFolder(sandboxed)
      assert.strictEqual(dirname(folder), outer)
      assert.deepInclude(statSync(outer), { uid: process.getuid!(), mode: 0o040_711 })
      assert.deepInclude(statSync(folder), { uid: sandboxed.user, mode: 0o040_700 })
    })
  )
})
