import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

const stampsIn = (folder: string, built = "program") =>
  Object.keys(JSON.parse(readFileSync(join(folder, "dist", built, "sources.json"), "utf8")))

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waypost-programs-"))
  const stamps = [...stampsIn(root), ...stampsIn(root, "console")]
  const packages = new Set(stamps.filter((path) => path.startsWith("node_modules")))
  for (const path of ["bin", "dist", "src", ...packages])
    cpSync(join(root, path), join(folder, path), { recursive: true, preserveTimestamps: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What an expression is of the module of the copy of this installation that knows what is current. */
const valueOf = (expression: string) => {
  const module = `import * as program from ${JSON.stringify(join(folder, "bin/program.mjs"))}; console.log(program.${expression})`
  return execFileSync(process.execPath, ["--input-type=module", "--eval", module]).toString().trim()
}

/** The file that runs the service in the copy of this installation. */
const fileOfService = () => relative(folder, valueOf('fileOf("main")'))

const built = "dist/program/main.js"
const source = "src/main.ts"

describe("the programs that npm ci builds", () => {
  it("run as long as the sources and packages are those that they were built from", () => {
    assert.strictEqual(fileOfService(), built)
  })

  it.each(["src/http/routes/Console.ts", "src/domain/query/PageLimit.ts"])(
    "built programs do not run after %s has changed",
    (changed) => {
      const path = join(folder, changed)
      appendFileSync(path, "\n")
      assert.strictEqual(fileOfService(), source)
      cpSync(join(root, changed), path, { preserveTimestamps: true })
      assert.strictEqual(fileOfService(), built)
    }
  )

  it.each([Math.floor, Math.round])("run where an archive has kept whole seconds of times, as %o does", (whole) => {
    for (const path of stampsIn(folder).filter((path) => !path.endsWith("/"))) {
      const seconds = whole(statSync(join(root, path)).mtimeMs / 1000)
      utimesSync(join(folder, path), seconds, seconds)
    }
    assert.strictEqual(fileOfService(), built)
  })

  it("need no package that is installed for development only", () => {
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"))
    const folders = stampsIn(root)
      .filter((path) => path.startsWith("node_modules"))
      .map(dirname)
    assert.include(folders, "node_modules/effect")
    assert.deepStrictEqual(
      folders.filter((path) => packages[path]?.dev === true),
      []
    )
  })

  it("built programs do not run after a package was installed again", () => {
    const path = "node_modules/effect/package.json"
    const when = new Date()
    utimesSync(join(folder, path), when, when)
    assert.strictEqual(fileOfService(), source)
    cpSync(join(root, path), join(folder, path), { preserveTimestamps: true })
    assert.strictEqual(fileOfService(), built)
  })

  it("built programs do not run after a migration was added", () => {
    writeFileSync(join(folder, "src/sql/migrations/9999_planted.ts"), "export default undefined\n")
    assert.strictEqual(fileOfService(), source)
  })
})

describe("the console that npm ci builds", () => {
  it.each(["src/console/console.css", "src/client/promise/Call.ts"])(
    "the built console is not current after %s has changed, so that the tests build it",
    (changed) => {
      const path = join(folder, changed)
      assert.strictEqual(valueOf('isCurrent("console")'), "true")
      appendFileSync(path, "\n")
      assert.strictEqual(valueOf('isCurrent("console")'), "false")
      cpSync(join(root, changed), path, { preserveTimestamps: true })
    }
  )
})
