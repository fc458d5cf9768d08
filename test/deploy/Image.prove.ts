import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import sharp from "sharp"
import { quarters } from "../support/MediaFixtures.ts"
import * as Process from "../support/Process.ts"
import * as Balancer from "../support/proofs/Balancer.ts"
import { report } from "../support/proofs/Figures.ts"
import * as OtherPostgres from "../support/proofs/OtherPostgres.ts"
import * as RestartLoad from "../support/proofs/RestartLoad.ts"
import { type Call, callTo, key } from "../support/Service.ts"
import { fauxqs } from "../support/storage/S3Servers.ts"
import { build, type Engine } from "./Image.ts"

const maxBytes = 350 * 1024 * 1024
const names = ["waypost-1", "waypost-2"] as const

/** Uploads a file in one part and returns its uuid. */
const upload = async (call: Call, bytes: Buffer) => {
  const file = { fileName: "quarters.png", contentType: "image/png", fileSize: bytes.length }
  const { body } = await call("POST", "/v1/uploads/init-multi-part", file)
  const { parts, uuid } = body.data
  const sent = await fetch(parts[0].url, { method: "PUT", body: new Uint8Array(bytes) })
  assert.strictEqual(sent.status, 200, await sent.text())
  const completed = await call("PUT", "/v1/uploads/complete-multi-part", {
    uuid,
    parts: [{ partNumber: 1, eTag: sent.headers.get("etag") }]
  })
  assert.strictEqual(completed.status, 200, completed.text)
  return completed.body.data.fileUuid as string
}

describe("the image of deploy", () => {
  const scope = Effect.runSync(Scope.make())
  const stack = new AsyncDisposableStack()
  const ports: Array<number> = []
  let engine: Engine

  beforeAll(async () => {
    stack.defer(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    engine = stack.use(await build())
    const { folder, remove } = Process.dataFolder()
    stack.defer(remove)
    const { url } = stack.use(await OtherPostgres.start(`${folder}/postgres`))
    const store = await Effect.runPromise(Scope.provide(fauxqs, scope))
    for (const name of names) {
      const port = await Process.freePort()
      ports.push(port)
      await engine.start(name, {
        PORT: String(port),
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        DATABASE_URL: url,
        BOOTSTRAP_API_KEY: key,
        DRAIN_SECONDS: "1",
        STORAGE: "s3",
        S3_ENDPOINT: store.endpoint!,
        S3_REGION: store.region,
        S3_BUCKET: store.bucket,
        S3_FORCE_PATH_STYLE: "true",
        S3_ACCESS_KEY_ID: store.accessKeyId!,
        S3_SECRET_ACCESS_KEY: Redacted.value(store.secretAccessKey!)
      })
    }
  }, 1_800_000)
  afterAll(() => stack.disposeAsync(), 120_000)

  it("the image is small, and runs without root, capabilities and a root file system that it can write", async (context) => {
    await report(context, { "image, MiB": engine.bytes / 1024 / 1024 })
    const { podman } = engine
    const inside = (command: string) => podman("exec", "waypost-1", "sh", "-c", command)
    assert.strictEqual((await inside("id -u")).trim(), "10001")
    assert.match(await inside("grep CapEff /proc/self/status"), /\t0+\n/)
    assert.strictEqual(
      (await inside("touch /opt/waypost/x 2> /tmp/error || cat /tmp/error")).split(": ").at(-1)?.trim(),
      "Read-only file system"
    )
    assert.isAtMost(engine.bytes, maxBytes)
  })

  it("serves the API, files, thumbnails, guides and the console, and its command line works", async () => {
    const call = callTo(`http://127.0.0.1:${ports[0]}`)
    while ((await call("GET", "/readyz").catch(() => ({ status: 0 }))).status !== 200) await sleep(100)
    const bytes = await quarters().png().toBuffer()
    const fileUuid = await upload(call, bytes)
    const created = await call("POST", "/v1/assets", { fileUuid, translations: [{ locale: "en", name: "Quarters" }] })
    assert.strictEqual(created.status, 201, created.text)
    const asset = async () => (await call("GET", `/v1/assets/${created.body.data.uuid}?include=processing`)).body.data
    while ((await asset()).processing === "pending") await sleep(100)
    const { urls } = await asset()
    const original = await fetch(urls.original)
    assert.deepStrictEqual(Buffer.from(await original.arrayBuffer()), bytes)
    const thumbnail = await fetch(urls.thumbnail, { headers: { accept: "image/webp" } })
    const { format, width } = await sharp(await thumbnail.arrayBuffer()).metadata()
    assert.deepStrictEqual([format, width], ["webp", 300])
    for (const path of ["/docs", "/docs/container", "/console"])
      assert.strictEqual((await call("GET", path)).status, 200, path)
    const keys = await engine.podman("exec", "waypost-1", "waypost", "keys", "list")
    assert.include(keys, key.slice(0, 10))
    await engine.podman("healthcheck", "run", "waypost-1")
    assert.notInclude(await engine.podman("logs", "waypost-1"), "The sources run")
  })

  it("drains on SIGTERM and starts again, and no request fails", { timeout: 600_000 }, async (context) => {
    await using balancer = await Balancer.start(ports)
    const ready = async (port: number) => {
      while (!balancer.isReady(port)) await sleep(20)
    }
    await Promise.all(ports.map(ready))
    const load = RestartLoad.start(balancer.url, 8)
    const codes: Array<string> = []
    for (const [index, name] of names.entries()) {
      await sleep(1000)
      await engine.podman("stop", name)
      codes.push((await engine.podman("inspect", "--format", "{{.State.ExitCode}}", name)).trim())
      await engine.podman("start", name)
      await sleep(500)
      await ready(ports[index]!)
    }
    await sleep(1000)
    const { failures, lost, requests } = await load.stop()
    await report(context, { requests, failed: failures.length, lost: lost.length })
    assert.deepStrictEqual(failures, [])
    assert.deepStrictEqual(lost, [])
    assert.deepStrictEqual(codes, ["0", "0"])
    assert.isAbove(requests, 200)
  })
})
