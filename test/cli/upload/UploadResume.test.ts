import { assert, describe, it } from "@effect/vitest"
import { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { concernsAll } from "../../../src/cli/Failures.ts"
import { isPart, type Seen } from "../../support/cli/Proxy.ts"
import * as Uploading from "./Uploading.ts"

let uploading: Awaited<ReturnType<typeof Uploading.start>>

beforeAll(async () => {
  uploading = await Uploading.start()
})
beforeEach(() => uploading.proxy.reset())
afterAll(() => uploading.stop())

const isBegin = ({ path }: Seen) => path.endsWith("/init-multi-part")
const isCreate = ({ method, path }: Seen) => method === "POST" && path === "/v1/assets"
const partNumbers = () => uploading.proxy.answered.filter(isPart).map(({ path }) => /\d+(?=\?)/.exec(path)![0])
const named = async (name: string) => (await uploading.assets()).filter((asset) => asset.fileNameOriginal === name)

// A part has 8 MiB.
const twoParts = 8 * Uploading.mebibyte + 1
const threeParts = 16 * Uploading.mebibyte + 1

/** Starts an upload and interrupts it, as Ctrl-C does, after `count` responses to requests of a kind. */
const interrupt = async (name: string, count: number, kind: (seen: Seen) => boolean) => {
  const { process, result } = uploading.begin(name)
  await uploading.proxy.until(count, kind)
  process.kill("SIGINT")
  return result
}

/** Forwards the first parts and stalls the others. */
const stallAfter = (count: number) => {
  let parts = 0
  uploading.proxy.decide((seen) => (isPart(seen) && ++parts > count ? "hang" : "pass"))
}

describe("interrupted uploads", () => {
  it("an interrupted upload resumes with the missing parts", async () => {
    const sha256 = uploading.file("three/film.bin", threeParts)
    stallAfter(2)
    const { code, err } = await interrupt("three", 2, isPart)
    assert.strictEqual(code, 130)
    assert.include(err, "run the same command again to continue")
    const sent = partNumbers()
    assert.lengthOf(sent, 2)

    uploading.proxy.reset()
    const { out } = await uploading.upload("three")
    assert.include(out, "1 uploaded")
    assert.lengthOf(uploading.proxy.answered.filter(isBegin), 0)
    assert.sameMembers([...sent, ...partNumbers()], ["1", "2", "3"])
    assert.deepStrictEqual(
      (await named("film.bin")).map((asset) => asset.sha256),
      [sha256]
    )
  })

  it("a resumed upload creates the asset of a file that was already complete", async () => {
    uploading.file("whole/whole.txt", "whole")
    uploading.proxy.decide((seen) => (isCreate(seen) ? "hang" : "pass"))
    await interrupt("whole", 1, ({ path }) => path.endsWith("/complete-multi-part"))
    uploading.proxy.reset()
    assert.include((await uploading.upload("whole")).out, "1 uploaded")
    assert.deepStrictEqual(partNumbers(), [])
    assert.lengthOf(await named("whole.txt"), 1)
  })

  it("a resumed upload creates no second asset when the response to the first create was lost", async () => {
    uploading.file("lost/lost.txt", "lost")
    uploading.proxy.decide((seen) => (isCreate(seen) ? "swallow" : "pass"))
    await interrupt("lost", 1, isCreate)
    uploading.proxy.reset()
    const { code, out } = await uploading.upload("lost")
    assert.include(out, "1 already there")
    assert.strictEqual(code, 0)
    assert.lengthOf(await named("lost.txt"), 1)
    assert.include((await uploading.upload("lost")).out, "1 already there")
  })

  it("a resumed upload starts again when its session was deleted", async () => {
    uploading.file("gone/gone.bin", "gone")
    let session = ""
    uploading.proxy.decide((seen) => (isPart(seen) ? "hang" : "pass"))
    const { process, result } = uploading.begin("gone")
    await uploading.proxy.until(1, isBegin)
    // The journal has the session shortly after the response.
    while (session === "") {
      session = /"session":"([^"]+)"/.exec(uploading.journal("gone.bin"))?.[1] ?? ""
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    process.kill("SIGINT")
    await result
    await uploading.call("DELETE", `/v1/uploads/${session}`)
    uploading.proxy.reset()
    assert.include((await uploading.upload("gone")).out, "1 uploaded")
    assert.lengthOf(await named("gone.bin"), 1)
  })

  it("a resumed upload aborts the session of a file that has changed", async () => {
    uploading.file("changing/changing.bin", twoParts)
    stallAfter(1)
    await interrupt("changing", 1, isPart)
    uploading.proxy.reset()
    const sha256 = uploading.file("changing/changing.bin", "shorter now")
    assert.include((await uploading.upload("changing")).out, "1 uploaded (11 B")
    assert.strictEqual((await named("changing.bin"))[0]!.sha256, sha256)
    assert.lengthOf(
      uploading.proxy.answered.filter(({ method }) => method === "DELETE"),
      1
    )
  })
})

describe("uploads over an unreliable connection", () => {
  it("an upload renews a rejected part URL and honours Retry-After", async () => {
    const sha256 = uploading.file("trouble/trouble.bin", twoParts)
    const failures = [403, 503, 429, 500].map((status) => ({ status, headers: { "retry-after": "0" } }))
    uploading.proxy.decide((seen) => (isPart(seen) ? (failures.shift() ?? "pass") : "pass"))
    const { code, err } = await uploading.upload("trouble")
    assert.strictEqual(code, 0, err)
    assert.lengthOf(failures, 0)
    assert.lengthOf(
      uploading.proxy.answered.filter(({ method, path }) => method === "POST" && path.endsWith("/parts")),
      1
    )
    assert.strictEqual((await named("trouble.bin"))[0]!.sha256, sha256)
  })

  it("an upload sends a part again that did not arrive in time, in the words of the service and of S3", async () => {
    const sha256 = uploading.file("slow/slow.bin", "slow")
    const body = "<Error><Code>RequestTimeout</Code></Error>"
    const failures = [{ status: 408 }, { status: 400, body }]
    uploading.proxy.decide((seen) => (isPart(seen) ? (failures.shift() ?? "pass") : "pass"))
    const { code, err } = await uploading.upload("slow")
    assert.strictEqual(code, 0, err)
    assert.lengthOf(failures, 0)
    assert.strictEqual((await named("slow.bin"))[0]!.sha256, sha256)
  })

  it("a request that never arrives in time is no reason to reject its file, as an error of the server", () => {
    const request = HttpClientRequest.put("http://localhost/part")
    const isRejected = (status: number) => {
      const response = HttpClientResponse.fromWeb(request, new Response("", { status }))
      const reason = new HttpClientError.StatusCodeError({ request, response })
      return !concernsAll(new HttpClientError.HttpClientError({ reason }))
    }
    assert.deepStrictEqual([400, 403, 408, 500].filter(isRejected), [400, 403])
  })

  it("an upload continues after connection resets", async () => {
    uploading.file("restart/restart.txt", "restart")
    let left = 2
    uploading.proxy.decide((seen) => (isBegin(seen) && left-- > 0 ? "reset" : "pass"))
    assert.include((await uploading.upload("restart")).out, "1 uploaded")
  })

  it("an upload rejects a file that changes while it is sent, and sends the others", async () => {
    uploading.file("moving/log.txt", "first line")
    uploading.file("moving/still.txt", "still")
    uploading.proxy.decide((seen) => {
      if (isBegin(seen)) uploading.file("moving/log.txt", "first line\nsecond line")
      return "pass"
    })
    const { code, out } = await uploading.upload("moving", "--concurrency", "1")
    assert.strictEqual(code, 1)
    assert.include(out, "The file changed during the upload")
    assert.include(out, "1 uploaded, 1 refused")
    uploading.proxy.reset()
    assert.include((await uploading.upload("moving")).out, "1 uploaded, 1 already there")
  })
})
