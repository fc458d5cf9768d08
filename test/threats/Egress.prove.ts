import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import { beforeAll } from "vitest"
import { pdf, quarters, svg } from "../support/MediaFixtures.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { callTo, key, type Running } from "../support/proofs/Running.ts"
import * as Process from "../support/Process.ts"
import { fauxqs } from "../support/storage/S3Servers.ts"

beforeAll(() => {
  try {
    execFileSync("strace", ["-V"], { stdio: "ignore" })
  } catch {
    throw new Error("This proof traces the service with strace; on Debian: apt-get install strace")
  }
})

/** A server that counts connections. */
const bait = async () => {
  let visits = 0
  const server = createServer((socket) => {
    visits++
    socket.destroy()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, visits: () => visits, close: () => server.close() }
}

const inSvg = (url: string) =>
  svg(
    `<style>@import url(${url}a.css); @font-face { font-family: f; src: url(${url}f.woff) }</style>
      <image width="9" height="9" xlink:href="${url}i.png"/><image width="9" height="9" href="${url}j.png"/>
      <use href="${url}u.svg#a"/><text font-family="f">&x;</text><foreignObject><img src="${url}k.png"/></foreignObject>`,
    undefined,
    `<?xml version="1.0"?><?xml-stylesheet href="${url}s.css"?><!DOCTYPE svg SYSTEM "${url}d.dtd" [<!ENTITY x SYSTEM "${url}x">]>`
  )

const inPdf = (url: string) =>
  pdf({
    catalog: `/OpenAction << /S /URI /URI (${url}) >> /AA << /WC << /S /JavaScript /JS (app.launchURL("${url}")) >> >>`,
    page: `/MediaBox [0 0 600 400] /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /GoToR /F (${url}) >> >>]`,
    objects: [
      `<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /F << /FS /URL /F (${url}) >> /Length 0 >>\nstream\n\nendstream`
    ]
  })

type Call = Running["call"]

/** Uploads a file, creates an asset, and downloads its images. */
const file = async (call: Call, fileName: string, bytes: Uint8Array) => {
  const { body } = await call("POST", "/v1/uploads/init-multi-part", { fileName, fileSize: bytes.length })
  const part = await fetch(body.data.parts[0].url, { method: "PUT", body: new Uint8Array(bytes) })
  const parts = [{ partNumber: 1, eTag: part.headers.get("etag") }]
  const completed = await call("PUT", "/v1/uploads/complete-multi-part", { uuid: body.data.uuid, parts })
  assert.strictEqual(completed.status, 200, completed.text)
  const created = await call("POST", "/v1/assets", { fileUuid: completed.body.data.fileUuid })
  const asset = await call("GET", `/v1/assets/${created.body.data.uuid}`)
  for (const address of Object.values(asset.body.data.urls as Readonly<Record<string, string>>)) {
    const { status } = await fetch(address)
    assert.strictEqual(status, 200, address)
  }
  return created.body.data.uuid as string
}

/** Creates records of every kind with the URL in every possible place. */
const use = async (url: string, address: string) => {
  const call = callTo(url)
  const made = async (path: string, body: unknown) => {
    const answer = await call("POST", path, body)
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.data.uuid as string
  }
  const host = new URL(address).host
  const location = await made("/v1/locations", { name: address, identifier: "a", contact: { website: address } })
  await made("/v1/users", { username: "a", email: `a@${host.replace(":", ".")}.example` })
  await made("/v1/groups", { name: address, description: address })
  const html = `<p><img src="${address}p.png"><a href="${address}">a</a></p>`
  await made("/v1/posts", { type: "news", translations: [{ locale: "en", title: "A", body: html }] })
  const product = await made("/v1/products", { type: "default", name: address, identifier: "p" })
  await call("PUT", `/v1/products/${product}/modules/api`, { endpoint: address, url: address })
  await call("POST", "/v1/webhooks", { url: address })
  const asset = await file(call, "photo.png", await quarters(300, 200).png().toBuffer())
  await file(call, "drawing.svg", inSvg(address))
  await file(call, "page.pdf", inPdf(address))
  await file(
    call,
    "film.mp4",
    Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${address}s.ts\n#EXT-X-ENDLIST\n`)
  )
  await file(call, "list.txt", Buffer.from(`file '${address}'\nconcat:${address}`))
  await call("PUT", `/v1/locations/${location}/media`, { logo: { assetUuid: asset }, items: [] })
  for (const path of [
    "/v1/locations",
    "/v1/assets/search?search=photo",
    "/v1/posts",
    "/readyz",
    "/metrics",
    "/docs",
    "/"
  ])
    assert.strictEqual((await call("GET", path)).status, 200, path)
  await fetch(`${url}/v1/me`, {
    headers: { authorization: key, host, "x-forwarded-host": host, referer: address, origin: address }
  })
}

/** The peers of the process and its children, from the output of strace. */
const peersIn = (trace: string) =>
  trace.split("\n").flatMap((line) => {
    if (!line.includes("sa_family=")) return []
    const port = /sin6?_port=htons\((\d+)\)/.exec(line)?.[1]
    const host = /inet_(?:addr\("|pton\(AF_INET6, ")([^"]+)/.exec(line)?.[1]
    const path = /sun_path=@?"([^"]*)"/.exec(line)?.[1]
    return [path ?? (host === undefined ? line : `${host}:${port}`)]
  })

/** Runs the service under strace and uses it; returns its peers. */
const watch = async (database: Database.Database, settings: Readonly<Record<string, string>>, address: string) => {
  const { folder, remove } = Process.dataFolder()
  const trace = join(folder, "trace")
  const under = [
    "strace",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-e",
    "trace=connect,sendto,sendmsg,sendmmsg",
    "-s",
    "200",
    "-o",
    trace
  ]
  try {
    const env = { DATA_DIR: join(folder, "data"), DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key, ...settings }
    const service = await Process.start(env, under)
    const { pid } = service.process
    const traced = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0])
    try {
      await use(service.url, address)
    } finally {
      // A signal to strace would not reach the service.
      process.kill(traced, "SIGTERM")
      await service.exited
    }
    return peersIn(readFileSync(trace, "utf8"))
  } finally {
    remove()
  }
}

describe("outgoing connections", () => {
  it("with file storage the service connects only to its database", { timeout: 120_000 }, async (ctx) => {
    const [database, trap] = [await Database.make(), await bait()]
    try {
      const contacts = await watch(database, {}, trap.url)
      const others = contacts.filter((contact) => contact !== new URL(database.url).host)
      await report(ctx, { "contacts with files": contacts.length, others: others.length, baited: trap.visits() })
      assert.isAbove(contacts.length, 0)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(trap.visits(), 0)
    } finally {
      trap.close()
      await database.remove()
    }
  })

  it("with S3 storage the service connects only to its database and its bucket", { timeout: 120_000 }, async (ctx) => {
    const [database, trap] = [await Database.make(), await bait()]
    try {
      await Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const { accessKeyId, bucket, endpoint, region } = yield* fauxqs
            const s3 = {
              STORAGE: "s3",
              S3_ENDPOINT: endpoint!,
              S3_REGION: region,
              S3_BUCKET: bucket,
              S3_ACCESS_KEY_ID: accessKeyId!,
              S3_SECRET_ACCESS_KEY: "S3RVER",
              S3_FORCE_PATH_STYLE: "true"
            }
            const contacts = yield* Effect.promise(() => watch(database, s3, trap.url))
            const known = [new URL(database.url).host, new URL(endpoint!).host]
            const others = contacts.filter((contact) => !known.includes(contact))
            yield* Effect.promise(() =>
              report(ctx, { "contacts with a bucket": contacts.length, others: others.length, baited: trap.visits() })
            )
            assert.isTrue(known.every((host) => contacts.includes(host)))
            assert.deepStrictEqual(others, [])
            assert.strictEqual(trap.visits(), 0)
          })
        )
      )
    } finally {
      trap.close()
      await database.remove()
    }
  })
})
