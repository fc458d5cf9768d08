import { afterAll, assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { openApi } from "../../../src/api/Api.ts"
import { createClient } from "../../../src/client/promise/PromiseClient.ts"
import { referenceOf } from "../../../src/http/docs/Reference.ts"
import { clientOf, curlOf } from "../../../src/http/docs/Samples.ts"
import * as TestServer from "../../support/TestServer.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-samples-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const operations = referenceOf({ ...openApi() }).resources.flatMap((resource) => resource.operations)

type Sample = (create: (options: object) => unknown) => Promise<unknown>

/** The samples as functions: the module that they import is their argument. */
const samples = async () => {
  const functions = operations.map((operation) => {
    const [line = "", ...rest] = clientOf(operation).split("\n")
    assert.strictEqual(line, 'import { createClient } from "@waypost/client"')
    return `${JSON.stringify(operation.id)}: async (createClient) => { const url = "http://waypost.test", key = "wp_x"\n${rest.join("\n")} }`
  })
  const file = join(folder, "samples.mjs")
  writeFileSync(file, `export const samples = {\n${functions.join(",\n")}\n}\n`)
  const loaded: { readonly samples: Readonly<Record<string, Sample>> } = await import(pathToFileURL(file).href)
  return loaded.samples
}

/** The path with values in the place of names. */
const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)

describe("the samples of the documentation", () => {
  it("send the request of their operation with the typed client", async () => {
    const all = await samples()
    assert.isAbove(operations.length, 100)
    assert.include(
      operations.map(({ id }) => id),
      "events.stream"
    )
    // Its sample follows the log, without end.
    for (const { body, id, method, path } of operations.filter(({ id }) => id !== "events.stream")) {
      const sent: Array<{ readonly url: string; readonly method: string; readonly body: unknown }> = []
      const fetch = async (input: string | URL | Request, init?: RequestInit) => {
        const request = new Request(input, init)
        const text = await request.text()
        sent.push({ url: request.url, method: request.method, body: text === "" ? undefined : JSON.parse(text) })
        return Response.json({ _tag: "Success", data: [], pagination: {} })
      }
      await all[id]!((options) => createClient({ url: "", key: "", ...options, fetch }))
      assert.strictEqual(sent.length, 1, id)
      assert.strictEqual(sent[0]!.method, method, id)
      assert.match(new URL(sent[0]!.url).pathname, pattern(path), id)
      assert.deepStrictEqual(sent[0]!.body, body?.example, id)
    }
  })

  it("name the method, path and body of their operation with curl", () => {
    for (const operation of operations) {
      const [, verb = "POST", url = "", json] =
        /^curl(?: -X ([A-Z]+))? "\$URL([^"]+)" \\\n {2}-H "Authorization: \$KEY"(?: \\\n {2}--json '([\s\S]*)')?$/.exec(
          curlOf(operation)
        ) ?? []
      const { body, id, method, path } = operation
      assert.strictEqual(json === undefined && verb === "POST" && method === "GET" ? "GET" : verb, method, id)
      assert.match(url.split("?")[0]!, pattern(path), id)
      assert.deepStrictEqual(
        json === undefined ? undefined : JSON.parse(json.replaceAll(String.raw`'\''`, "'")),
        body?.example,
        id
      )
    }
  })
})

layer(TestServer.layer(), { excludeTestServices: true })("the reads of the documentation", (it) => {
  it.effect("each read has parameters that the service takes", () =>
    Effect.gen(function* () {
      const { fetch, fullKey } = yield* TestServer.TestServer
      for (const operation of operations.filter(({ method }) => method === "GET")) {
        const [, target = ""] = /"\$URL([^"]+)"/.exec(curlOf(operation)) ?? []
        assert.match(target.split("?")[0]!, pattern(operation.path), operation.id)
        const response = yield* Effect.promise(() => fetch(target, { headers: { authorization: fullKey } }))
        assert.include([200, 404], response.status, `${target} ${yield* Effect.promise(() => response.text())}`)
      }
    })
  )
})
