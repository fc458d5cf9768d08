import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { quarters } from "../support/MediaFixtures.ts"
import * as Service from "../support/Service.ts"
import { parse, root } from "./Guide.ts"
import * as Shell from "./Shell.ts"
import { missing, missingLines, parsePrinted, parseShown, replaceIn } from "./Shown.ts"
import type { Step } from "./Guide.ts"

const guides = readdirSync(join(root, "docs"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => parse(`docs/${file}`))
const run = guides.filter(({ steps }) => steps.length > 0)

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

describe("The guides", () => {
  let service: Service.Service
  let folder: string
  let picture: Buffer

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "waypost-guides-"))
    picture = await quarters(400, 300).png().toBuffer()
    service = await Service.start()
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
      for (;;) {
        const { body } = await call("GET", `/v1/${path}?limit=500&sortOrder=desc`)
        if (body.data.length === 0) break
        for (const { uuid } of body.data)
          await call("DELETE", `/v1/${path}/${uuid}${path === "assets" ? "?force=true" : ""}`)
      }
    }
  }

  it.each(run.map((guide) => [guide.file, guide] as const))(
    "%s runs, and prints what it shows",
    async (file, guide) => {
      await clear()
      await using shell = Shell.start(join(folder, file.replaceAll(/\W/g, "-")), {
        URL: service.url,
        KEY: service.key,
        DATA_DIR: service.folder
      })
      for (const name of ["poster.png", "photos/strawberry-cake.png", "photos/summer/garden_party.png"]) {
        shell.write(name, Buffer.concat([picture, Buffer.from(name)]))
      }
      for (const { name, text } of guide.samples) shell.write(name, text)
      const replacements = new Map([["http://localhost:3000", service.url]])
      const problems: Array<string> = []
      for (const step of guide.steps) {
        const ran = await shell.run(replaceIn(step.commands, replacements))
        problems.push(...problemsOf(step, ran, replacements).map((problem) => `${file}:${step.line}: ${problem}`))
      }
      assert.deepStrictEqual(problems, [])
    }
  )

  it("says of every block that is not run why", () => {
    const left = guides.flatMap(({ file, notRun }) =>
      notRun.map(({ line, notRun: reason }) => `${file}:${line}: ${reason}`)
    )
    console.info(`${left.length} blocks are not run:\n${left.join("\n")}`)
    assert.isBelow(left.length, 40)
  })
})
