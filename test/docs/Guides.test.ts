import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { quarters } from "../support/MediaFixtures.ts"
import { compileCache } from "../support/Process.ts"
import * as Running from "../support/proofs/Running.ts"
import { guides, parse, read, root } from "./Guide.ts"
import * as Shell from "./Shell.ts"
import { missing, missingLines, parsePrinted, parseShown, replaceIn } from "./Shown.ts"
import type { Step } from "./Guide.ts"

const parsed = ["README.md", ...guides].map(parse)
const run = parsed.filter(({ steps }) => steps.length > 0)

const steps = run.flatMap((guide) => guide.steps)
const left = parsed.flatMap(({ file, notRun }) =>
  notRun.map(({ line, notRun: reason }) => `${file}:${line}: ${reason}`)
)

/** The address of the service in guides. */
const shownUrl = "http://localhost:3000"

/** Their commands are processes, which also read a file `.env`; those of the others run in the process of this test. */
const withProcesses = new Set(["README.md", "docs/settings.md"])

/** The sources of the client package: `client` is its main one. */
const clientSources = {
  client: "promise/PromiseClient.ts",
  effect: "Client.ts",
  filters: "Where.ts",
  ids: "Ids.ts",
  node: "node/LocalFile.ts"
}

/** What is wrong with the output of a step, and what it printed. */
const problemsOf = (step: Step, ran: Shell.Ran, replacements: Map<string, string>): ReadonlyArray<string> => {
  const { exit, failed, output, statuses } = ran
  const expected = step.status ?? 200
  const status = statuses.at(-1)
  const isExpected = step.status === undefined ? status === undefined || status < 300 : status === expected
  const wrong = [
    isExpected ? [] : `answered ${status}, not ${expected}`,
    step.exit === undefined || step.exit === exit ? [] : `exited with ${exit}, not ${step.exit}`,
    step.exit === undefined && failed !== expected >= 400 ? (failed ? "failed" : "did not fail") : []
  ].flat()
  if (wrong.length > 0) return [`${wrong.join(", ")}\n${output}${ran.errors}`]
  if (step.output === undefined) return []
  const { language, text } = step.output
  return language === "json"
    ? missing(parseShown(text), parsePrinted(output), replacements)
    : missingLines(replaceIn(text, replacements), output + ran.errors, replacements)
}

/** A JSON value without one of its members, at any depth: once for each of them. */
const withoutOne = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => withoutOne(element).map((smaller) => value.with(index, smaller)))
  }
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
    ...withoutOne(inner).map((smaller) => ({ ...value, [name]: smaller }))
  ])
}

describe("The guides", () => {
  let service: Running.Running
  let folder: string
  let picture: Buffer

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "waypost-guides-"))
    // A database of a guide may run as another user.
    chmodSync(folder, 0o755)
    picture = await quarters(400, 300).png().toBuffer()
    service = await Running.start()
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 6, retryDelay: 200 })
  })

  /** Removes what the guide before created. */
  const clear = async () => {
    const { call } = service
    for (const path of [
      "posts",
      "products",
      "groups",
      "users",
      "locations",
      "assets",
      "meta-tags",
      "asset-categories"
    ]) {
      const { body } = await call("GET", `/v1/${path}?limit=500&sortOrder=desc`)
      for (const { uuid } of body.data) {
        const answer = await call("DELETE", `/v1/${path}/${uuid}${path === "assets" ? "?force=true" : ""}`)
        assert.strictEqual(answer.status, 200, answer.text)
      }
    }
  }

  it.each(run.map((guide) => [guide.file, guide] as const))(
    "%s runs, and prints what it shows",
    async (file, guide) => {
      await clear()
      await using shell = Shell.start(
        join(folder, file.replaceAll(/\W/g, "-")),
        { URL: service.url, KEY: service.key, DATA_DIR: service.folder, NODE_COMPILE_CACHE: compileCache },
        { hasProcesses: withProcesses.has(file), seal: () => service.sql`select waypost_seal_all()` }
      )
      for (const name of ["poster.png", "photos/strawberry-cake.png", "photos/summer/garden_party.png"]) {
        shell.write(name, Buffer.concat([picture, Buffer.from(name)]))
      }
      for (const name of [".env.example", "docs/images"]) shell.link(name, join(root, name))
      shell.link("node_modules/effect", join(root, "node_modules/effect"))
      shell.write(
        "node_modules/@waypost/client/package.json",
        JSON.stringify({ type: "module", exports: { ".": "./client.ts", "./*": "./*.ts" } })
      )
      for (const [name, source] of Object.entries(clientSources)) {
        shell.link(`node_modules/@waypost/client/${name}.ts`, join(root, "src/client", source))
      }
      for (const { name, text } of guide.samples) shell.write(name, text)
      const replacements = new Map<string, string>()
      const problems: Array<string> = []
      for (const step of guide.steps) {
        const ran = await shell.run(replaceIn(step.commands, replacements).replaceAll(shownUrl, service.url))
        const printed = { ...ran, output: ran.output.replaceAll(service.url, shownUrl) }
        problems.push(...problemsOf(step, printed, replacements).map((problem) => `${file}:${step.line}: ${problem}`))
      }
      assert.deepStrictEqual(problems, [])
    }
  )

  it("the smallest body of each product module is accepted, and rejected without any of its members", async () => {
    await clear()
    const productOf = (type: string) => service.create("/v1/products", { type, identifier: type, name: "Small" })
    const [product, parent] = [await productOf("default"), await productOf("variantParent")]
    const rows = [...read("docs/products-and-modules.md").matchAll(/^\| `([a-z-]+)` \| [^|]+ \| `(\{.*?\})`/gm)]
    assert.lengthOf(rows, 16)
    for (const [, name = "", body = ""] of rows) {
      const put = (body: string) =>
        service.call("PUT", `/v1/products/${name === "variants" ? parent : product}/modules/${name}`, body)
      const answer = await put(body)
      assert.strictEqual(answer.status, 200, `${name}: ${answer.text}`)
      for (const smaller of withoutOne(JSON.parse(body))) {
        const text = JSON.stringify(smaller)
        assert.strictEqual((await put(text)).status, 400, `${name} accepts ${text}`)
      }
    }
  })

  it(`leaves out ${left.length} blocks, each for a reason`, async ({ annotate }) => {
    for (const one of left) await annotate(one)
    assert.isBelow(left.length, steps.length)
  })
})
