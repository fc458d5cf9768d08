import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach } from "vitest"
import * as Connection from "../../../src/cli/Connection.ts"
import * as Mirror from "../../../src/cli/mirror/Mirror.ts"
import * as MirrorLock from "../../../src/cli/mirror/MirrorLock.ts"
import { start, waypost } from "../../support/cli/Command.ts"
import * as Proxy from "../../support/cli/Proxy.ts"
import { until } from "../../support/Until.ts"
import * as Uploading from "../upload/Uploading.ts"

let running: Awaited<ReturnType<typeof Uploading.start>>

/** What a mirror prints that follows while another process has the lock, and then while no request gets an answer. */
let printed: Promise<string>

beforeAll(async () => {
  running = await Uploading.start()
  // The tests above its own take as long as it waits.
  printed = followThroughFailures()
  printed.catch(() => undefined)
})
beforeEach(() => running.proxy.reset())
afterAll(async () => {
  await printed.catch(() => undefined)
  await running.stop()
})

interface Named {
  readonly uuid: string
  readonly name: string
}

let count = 0
const create = async (name: string) => {
  const { data } = await running.call("POST", "/v1/locations", { name, identifier: `M-${count++}` })
  return (data as Named).uuid
}

const namesIn = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as Named).name)
    .toSorted()

/** Runs the command until the file has these names: a change is in the log shortly after it was acknowledged. */
const mirrors = (file: string, names: ReadonlyArray<string>) =>
  until(`the mirror has ${names.join()}`, async () => {
    const { code, err } = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(code, 0, err)
    return namesIn(file).join() === names.join()
  })

const textFor = (pid: number) => Effect.runPromise(Effect.provide(MirrorLock.textFor(pid), NodeServices.layer))

const followThroughFailures = async () => {
  const file = join(running.folder, "outage.ndjson")
  writeFileSync(`${file}.lock`, await textFor(process.pid))
  const proxy = await Proxy.start(running.url)
  proxy.decide(() => "reset")
  const env = { ...running.env, WAYPOST_URL: proxy.url }
  const { process: child, result } = start(["mirror", "locations", file, "--follow"], env)
  let err = ""
  child.stderr!.on("data", (chunk) => (err += String(chunk)))
  const shows = (text: string) => until(`${text} is printed`, () => err.includes(text))
  try {
    await shows(`keeps ${file} up to date`)
    // For another attempt.
    await sleep(2500)
    rmSync(`${file}.lock`)
    await shows("The connection to")
    proxy.reset()
    await until("the mirror has begun", () => existsSync(file))
  } finally {
    child.kill("SIGINT")
    await result
    proxy.close()
  }
  return err
}

describe("waypost mirror", () => {
  it("keeps a copy up to date, which only its owner can read", async () => {
    const file = join(running.folder, "locations.ndjson")
    const [one, two] = [await create("a"), await create("b")]
    await mirrors(file, ["a", "b"])
    await running.call("PATCH", `/v1/locations/${one}`, { name: "c" })
    await running.call("DELETE", `/v1/locations/${two}`)
    await create("d")
    await mirrors(file, ["c", "d"])
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.deepStrictEqual(
      readdirSync(running.folder).filter((name) => name.endsWith(".partial")),
      []
    )
    const lines = readFileSync(file, "utf8")
    const { out } = await waypost(["mirror", "locations", file], running.env)
    assert.include(out, "locations: 0 changed")
    assert.strictEqual(readFileSync(file, "utf8"), lines)
  })

  it("applies the same changes again after a crash before the cursor was written", async () => {
    const file = join(running.folder, "crashed.ndjson")
    const before = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(before.code, 0, before.err)
    const cursor = readFileSync(`${file}.cursor`, "utf8")
    const names = namesIn(file)
    await create("e")
    await mirrors(file, [...names, "e"].toSorted())
    writeFileSync(`${file}.cursor`, cursor)
    await mirrors(file, [...names, "e"].toSorted())
  })

  it("begins again when its first run ended before the cursor was written", async () => {
    const file = join(running.folder, "first.ndjson")
    // The cursor cannot be written.
    mkdirSync(`${file}.cursor.partial`)
    const broken = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(broken.code, 1, broken.err)
    assert.isFalse(existsSync(file))
    rmdirSync(`${file}.cursor.partial`)
    const again = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(again.code, 0, again.err)
    assert.isTrue(existsSync(file))
  })

  it("begins again when the file is gone, or the key has other permissions", async () => {
    const file = join(running.folder, "again.ndjson")
    await waypost(["mirror", "locations", file], running.env)
    const names = namesIn(file)
    rmSync(file)
    await mirrors(file, names)
    const { data } = await running.call("POST", "/v1/api-keys", { name: "Reader", permissions: ["read:locations"] })
    const { key } = data as { readonly key: string }
    const other = await waypost(["mirror", "locations", file], { ...running.env, WAYPOST_API_KEY: key })
    assert.include(other.err, "for a key with other permissions: it begins again")
    assert.deepStrictEqual(namesIn(file), names)
  })

  it("the file stays complete until a mirror of many batches that begins again is complete", async () => {
    const [file, rows] = [join(running.folder, "groups.ndjson"), join(running.folder, "rows.ndjson")]
    const names = Array.from({ length: 1100 }, (_, index) => `G-${index}`).toSorted()
    writeFileSync(rows, names.map((name) => JSON.stringify({ name })).join("\n"))
    assert.include((await waypost(["import", "groups", rows], running.env)).out, "1,100 created")
    await until("the mirror has every group", async () => {
      const { code, err } = await waypost(["mirror", "groups", file], running.env)
      assert.strictEqual(code, 0, err)
      return namesIn(file).length === names.length
    })
    // The permissions of another key.
    writeFileSync(`${file}.cursor`, readFileSync(`${file}.cursor`, "utf8").replace('"read:assets",', ""))
    const state = () => [namesIn(file), readFileSync(`${file}.cursor`, "utf8")]
    const before = state()
    const found: Array<ReturnType<typeof state>> = []
    let isBroken = true
    running.proxy.decide(({ path }) => {
      if (!path.startsWith("/v1/groups/delta")) return "pass"
      found.push(state())
      return isBroken && found.length === 3 ? { status: 404 } : "pass"
    })
    const key = Option.some(Redacted.make(running.env.WAYPOST_API_KEY))
    const update = Mirror.update("groups", file, 1).pipe(
      Effect.provide(Layer.provideMerge(Connection.layer({ url: running.proxy.url, key }), NodeServices.layer))
    )
    assert.isTrue(await Effect.runPromise(Effect.isFailure(update)))
    found.push(state())
    isBroken = false
    await Effect.runPromise(update)
    assert.isAtLeast(found.length, 7)
    for (const one of found) assert.deepStrictEqual(one, before)
    assert.deepStrictEqual(namesIn(file), names)
    assert.notStrictEqual(readFileSync(`${file}.cursor`, "utf8"), before[1])
    assert.isFalse(existsSync(`${file}.new`))
  })

  it("a mirror does not overwrite the mirror of another resource", async () => {
    const file = join(running.folder, "users.ndjson")
    await waypost(["mirror", "users", file], running.env)
    const { code, err } = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(code, 1)
    assert.include(err, `${file} is a mirror of users`)
  })

  it("a mirror does not overwrite a file that is no mirror", async () => {
    const file = join(running.folder, "other.txt")
    writeFileSync(file, "mine")
    const { code, err } = await waypost(["mirror", "locations", file], running.env)
    assert.strictEqual(code, 1)
    assert.include(err, "is not a mirror")
    assert.strictEqual(readFileSync(file, "utf8"), "mine")
  })

  it("leaves a mirror to the process that keeps it up to date, unless that has ended", async () => {
    const file = join(running.folder, "locked.ndjson")
    const lock = await textFor(process.pid)
    const other = (change: object) => JSON.stringify({ ...JSON.parse(lock), ...change })
    const elsewhere = other({ host: "elsewhere", pid: 99_999_999 })
    for (const [text, owner] of [
      [lock, `Process ${process.pid} on `],
      [elsewhere, "Process 99999999 on elsewhere"]
    ] as const) {
      writeFileSync(`${file}.lock`, text)
      const { code, err } = await waypost(["mirror", "locations", file], running.env)
      assert.strictEqual(code, 1)
      assert.include(err, owner)
      assert.include(err, `keeps ${file} up to date`)
      assert.isFalse(existsSync(file))
      assert.strictEqual(readFileSync(`${file}.lock`, "utf8"), text)
    }
    // No process has a number as large; one of an earlier start of a container has the same number; a crash left no text.
    const earlier = existsSync("/proc/self/stat") ? [other({ started: "1" })] : []
    for (const text of [other({ pid: 99_999_999 }), ...earlier, ""]) {
      writeFileSync(`${file}.lock`, text)
      const { code, err } = await waypost(["mirror", "locations", file], running.env)
      assert.strictEqual(code, 0, err)
      assert.isTrue(existsSync(file))
      assert.isFalse(existsSync(`${file}.lock`))
    }
  })

  it("of several runs that find the lock of a process that has ended, one at a time has the mirror", async () => {
    const file = join(running.folder, "contended.ndjson")
    const stale = JSON.stringify({ ...JSON.parse(await textFor(process.pid)), pid: 99_999_999 })
    let [held, most, all] = [0, 0, 0]
    const hold = Effect.gen(function* () {
      yield* MirrorLock.locked(file)
      most = Math.max(most, ++held)
      all++
      yield* Effect.sleep(2)
      held--
    })
    for (let round = 0; round < 50; round++) {
      writeFileSync(`${file}.lock`, stale)
      const runs = Array.from({ length: 8 }, () => Effect.ignore(Effect.scoped(hold)))
      await Effect.runPromise(
        Effect.provide(Effect.all(runs, { concurrency: "unbounded", discard: true }), NodeServices.layer)
      )
      assert.strictEqual(most, 1, `round ${round}`)
    }
    assert.isAtLeast(all, 50)
    assert.deepStrictEqual(
      readdirSync(running.folder).filter((name) => name.startsWith("contended")),
      []
    )
  })

  it("follows until it is interrupted", async () => {
    const file = join(running.folder, "followed.ndjson")
    const { process, result } = start(["mirror", "locations", file, "--follow"], running.env)
    await until("the mirror has begun", () => readdirSync(running.folder).includes("followed.ndjson"))
    await create("followed")
    await until("the mirror has the new record", () => namesIn(file).includes("followed"))
    process.kill("SIGINT")
    const { code, err } = await result
    assert.strictEqual(code, 130, err)
  })

  it("follows also after failures that pass and while another process has the lock, and prints each once", async () => {
    const err = await printed
    const lines = err.split("\n").filter((line) => line !== "")
    assert.lengthOf(lines, 2, err)
    assert.isTrue(
      lines.every((line) => line.startsWith("Trying again every 2 seconds: ")),
      err
    )
  })
})
