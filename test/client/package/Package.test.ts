import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"
import * as ClientPackage from "../../support/ClientPackage.ts"
import * as Filterable from "../../support/contract/Filterable.ts"
import { quarters } from "../../support/MediaFixtures.ts"
import * as Service from "../../support/Service.ts"

const root = join(import.meta.dirname, "../../..")

const markdown = readFileSync(join(root, "src/client/README.md"), "utf8")

/** The command of the README that begins with a text. */
const commandOf = (begin: string) =>
  markdown.split("\n").find((line) => line.startsWith(begin)) ?? assert.fail(`The README has no command ${begin}`)

/** The programs of the README in order, each with its output. */
const recipes = () => {
  const found = [...markdown.matchAll(/^```ts (\S+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm)]
  return found.map(([, name = "", program = "", output]) => ({ name, program, output }))
}

describe("client package", () => {
  let project: string
  let service: Service.Service

  beforeAll(async () => {
    project = mkdtempSync(join(tmpdir(), "waypost-client-"))
    ClientPackage.install(project)
    // As `npm init -y` writes it.
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "commonjs" }))
    execSync(commandOf("npm pkg set"), { cwd: project })
    writeFileSync(join(project, "poster.png"), await quarters(400, 300).png().toBuffer())
    for (const { name, program } of recipes()) writeFileSync(join(project, name), program)
    service = await Service.start()
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(project, { recursive: true, force: true })
  })

  /** Compiles programs with the options of the README and stricter ones. */
  const compile = (files: ReadonlyArray<string>) => {
    const options = commandOf("npx tsc").replace("npx tsc", "").replace("*.ts", "").trim().split(/ +/)
    return spawnSync(
      join(root, "node_modules/.bin/tsc"),
      [...options, "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--singleThreaded", ...files],
      { cwd: project, encoding: "utf8" }
    )
  }

  it("the eleven recipes of the README compile strictly, with the options that it names", () => {
    const files = recipes().map(({ name }) => name)
    assert.lengthOf(files, 1 + 11)
    assert.include(markdown, "\n## Eleven recipes\n")
    const { status, stdout } = compile(files)
    assert.strictEqual(status, 0, stdout)
  })

  it("the type of the filter of each list has exactly what the service can filter by", () => {
    const checks = Filterable.lists().map(({ keyed, method, paths, position }) => {
      const name = method.replace(".", "_")
      const expected = [...paths.map((path) => JSON.stringify(path)), ...keyed.map((list) => `\`${list}.\${string}\``)]
      return `
type ${name} = keyof Exclude<NonNullable<Parameters<typeof client.${method}>[${position}]>["filter"], string | undefined>
type ${name}_expected = ${expected.join(" | ")}
export const ${name}: readonly [missing?: never, other?: never] = [] as [Exclude<${name}_expected, ${name}>?, Exclude<${name}, ${name}_expected>?]`
    })
    assert.isAbove(checks.length, 20)
    const program = `import { createClient } from "@waypost/client"\n\nconst client = createClient({ url: "" })${checks.join("\n")}\n`
    writeFileSync(join(project, "filters.ts"), program)
    const { status, stdout } = compile(["filters.ts"])
    assert.strictEqual(status, 0, stdout)
  })

  it.each(recipes().flatMap(({ name, output }) => (output === undefined ? [] : [[name, output] as const])))(
    "the recipe %s runs against a service, and prints what the README shows",
    (name, output) => {
      const env = { PATH: process.env["PATH"], WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
      const { stderr, stdout } = spawnSync(process.execPath, [name], { cwd: project, encoding: "utf8", env })
      assert.strictEqual(stdout, output, stderr)
    }
  )

  it("the recipe of a precondition ends with the error of its read, and writes nothing", () => {
    const recipe = recipes().find(({ name }) => name === "precondition.ts")!
    const unread = recipe.program.replace("get(uuid)", 'get("01936f0e-7c4b-7000-8000-000000000000")')
    assert.notStrictEqual(unread, recipe.program)
    writeFileSync(join(project, "unread.ts"), unread)
    const env = { PATH: process.env["PATH"], WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
    const { status, stderr, stdout } = spawnSync(process.execPath, ["unread.ts"], {
      cwd: project,
      encoding: "utf8",
      env
    })
    assert.deepStrictEqual([status, stdout], [1, ""])
    assert.include(stderr, "LocationNotFoundError")
  })

  it("the error of a wrong key is shown with its name, its message and the code of the caller", () => {
    const program = `import { createClient } from "@waypost/client"
await createClient({ url: ${JSON.stringify(service.url)}, key: "wp_wrong" }).apiKeys.me()`
    writeFileSync(join(project, "wrong.js"), program)
    const { stderr } = spawnSync(process.execPath, ["wrong.js"], { cwd: project, encoding: "utf8" })
    const [, shown = "", frame = ""] = /^(WaypostError.*)\n(.*)$/m.exec(stderr) ?? []
    assert.match(
      shown,
      /^WaypostError \[UnauthorizedError\]: The Authorization header does not hold an API key/,
      stderr
    )
    assert.match(frame, /wrong\.js:2/)
  })

  it("a browser that lists locations with the promise client gets at most 60 kB, compressed", async () => {
    const program = `
      import { createClient } from "@waypost/client"
      const client = createClient({ url: "", key: "" })
      for await (const { name } of client.locations.all()) document.body.append(name)
    `
    writeFileSync(join(project, "browser.js"), program)
    const { output } = await build({
      input: join(project, "browser.js"),
      platform: "browser",
      write: false,
      logLevel: "warn",
      output: { minify: true }
    })
    assert.lengthOf(output, 1)
    const size = gzipSync(output[0].code).length
    console.info(`The promise client adds ${size} bytes to a browser`)
    assert.isAtMost(size, 60_000)
    assert.notMatch(output[0].code, /from\s*["']/)
  })
})
