import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"
import * as ClientPackage from "../../support/ClientPackage.ts"
import * as Filterable from "../../support/contract/Filterable.ts"
import { quarters } from "../../support/MediaFixtures.ts"
import * as Served from "../../support/cli/Served.ts"

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
  let service: Served.Served
  let errors: ReturnType<typeof compile>

  beforeAll(async () => {
    project = mkdtempSync(join(tmpdir(), "waypost-client-"))
    ClientPackage.install(project)
    // As `npm init -y` writes it.
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "commonjs" }))
    execSync(commandOf("npm pkg set"), { cwd: project })
    writeFileSync(join(project, "poster.png"), await quarters(400, 300).png().toBuffer())
    for (const { name, program } of recipes()) writeFileSync(join(project, name), program)
    writeFilters()
    errors = compile()
    service = await Served.start()
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(project, { recursive: true, force: true })
  })

  const lists = Filterable.lists()

  /** Writes a program that has errors where the type of a filter is another one. */
  const writeFilters = () => {
    const checks = lists.map(({ keyed, method, paths, position }) => {
      const name = method.replace(".", "_")
      const expected = [...paths.map((path) => JSON.stringify(path)), ...keyed.map((list) => `\`${list}.\${string}\``)]
      return `
type ${name} = keyof Exclude<NonNullable<Parameters<typeof client.${method}>[${position}]>["filter"], string | undefined>
type ${name}_expected = ${expected.join(" | ")}
export const ${name}: readonly [missing?: never, other?: never] = [] as [Exclude<${name}_expected, ${name}>?, Exclude<${name}, ${name}_expected>?]`
    })
    const program = `import { createClient } from "@waypost/client"\n\nconst client = createClient({ url: "" })${checks.join("\n")}\n`
    writeFileSync(join(project, "filters.ts"), program)
  }

  const files = recipes().map(({ name }) => name)

  /** The errors of the recipes and of the filters, compiled once with the options of the README and stricter ones. */
  const compile = () => {
    const options = commandOf("npx tsc").replace("npx tsc", "").replace("*.ts", "").trim().split(/ +/)
    const stricter = ["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"]
    const { status, stderr, stdout } = spawnSync(
      join(root, "node_modules/.bin/tsc"),
      [...options, ...stricter, "--singleThreaded", "--pretty", "false", ...files, "filters.ts"],
      { cwd: project, encoding: "utf8" }
    )
    if (status !== 0 && stdout === "") throw new Error(`The compiler ended with ${status}: ${stderr}`)
    // The lines below that of an error begin with a blank.
    const all = stdout.split(/\n(?=\S)/).filter((text) => text !== "")
    const isOfFilters = (text: string) => text.startsWith("filters.ts(")
    return { filters: all.filter(isOfFilters), others: all.filter((text) => !isOfFilters(text)) }
  }

  /** Runs a program as a user does, and returns its exit code and what it prints. */
  const run = async (name: string) => {
    const env = { PATH: process.env["PATH"], WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
    const child = spawn(process.execPath, [name], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (chunk) => (stdout += String(chunk)))
    child.stderr.on("data", (chunk) => (stderr += String(chunk)))
    const [status] = await once(child, "close")
    return { status, stderr, stdout }
  }

  it("the package is packed with its license, and with that of effect, whose code the promise client has", () => {
    const folder = join(project, "node_modules/@waypost/client")
    const [{ files }] = JSON.parse(execSync("npm pack --dry-run --json", { cwd: folder, encoding: "utf8" }))
    const paths = files.map(({ path }: { readonly path: string }) => path)
    assert.includeMembers(paths, ["LICENSE", "THIRD-PARTY-LICENSES.md"])
    assert.strictEqual(readFileSync(join(folder, "LICENSE"), "utf8"), readFileSync(join(root, "LICENSE"), "utf8"))
    const notice = readFileSync(join(folder, "THIRD-PARTY-LICENSES.md"), "utf8")
    assert.match(notice, /^## effect \d/m)
    assert.include(notice, readFileSync(join(root, "node_modules/effect/LICENSE"), "utf8").trim())
  })

  it("the eleven recipes of the README compile strictly, with the options that it names", () => {
    assert.lengthOf(files, 1 + 11)
    assert.include(markdown, "\n## Eleven recipes\n")
    assert.deepStrictEqual(errors.others, [])
  })

  it("the type of the filter of each list has exactly what the service can filter by", () => {
    assert.isAbove(lists.length, 20)
    assert.deepStrictEqual(errors.filters, [])
  })

  it.each(recipes().flatMap(({ name, output }) => (output === undefined ? [] : [[name, output] as const])))(
    "the recipe %s runs against a service, and prints what the README shows",
    async (name, output) => {
      const { stderr, stdout } = await run(name)
      assert.strictEqual(stdout, output, stderr)
    }
  )

  it("the recipe of a precondition ends with the error of its read, and writes nothing", async () => {
    const recipe = recipes().find(({ name }) => name === "precondition.ts")!
    const unread = recipe.program.replace("get(uuid)", 'get("01936f0e-7c4b-7000-8000-000000000000")')
    assert.notStrictEqual(unread, recipe.program)
    writeFileSync(join(project, "unread.ts"), unread)
    const { status, stderr, stdout } = await run("unread.ts")
    assert.deepStrictEqual([status, stdout], [1, ""])
    assert.include(stderr, "LocationNotFoundError")
  })

  it("the error of a wrong key is shown with its name, its message and the code of the caller", async () => {
    const program = `import { createClient } from "@waypost/client"
await createClient({ url: ${JSON.stringify(service.url)}, key: "wp_wrong" }).apiKeys.me()`
    writeFileSync(join(project, "wrong.js"), program)
    const { stderr } = await run("wrong.js")
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
