import { afterAll, assert, beforeAll, layer } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { report } from "../support/proofs/Figures.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"
import { command, document, folder as judges, install, node, tsc } from "../support/contract/Judges.ts"

/**
 * Programs that use generated clients are text here: they compile with what is generated beside them, and with nothing
 * that the repository has.
 */
const programs = fileURLToPath(new URL("clients/", import.meta.url))

const compilerOptions = {
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2022", "DOM", "DOM.Iterable"],
  types: [],
  strict: true,
  outDir: "out"
}

const clients = [
  {
    name: "openapi-typescript",
    program: "OpenApiFetch",
    // Unless it is told, it takes a member that has a default for one that must be sent.
    generate: [command("openapi-typescript"), document, "--output", "schema.ts", "--default-non-nullable", "false"],
    generated: "schema.ts",
    operation: /^ {4}"\w+\.\w+": \{$/gm
  },
  {
    name: "hey-api",
    program: "HeyApi",
    generate: [command("openapi-ts"), "--input", document, "--output", "sdk", "--client", "@hey-api/client-fetch"],
    generated: "sdk/sdk.gen.ts",
    operation: /^export const \w+ = </gm
  }
]

/** What a program tells of a service that does what the document says. */
const expected = {
  created: 201,
  read: "Utrecht",
  patched: 200,
  listed: ["Ede"],
  total: 1,
  deleted: 200,
  missing: [404, "LocationNotFoundError", true],
  parts: [1],
  price: ["price", 1250, "EUR"],
  refused: ["name wrongType"]
}

const operations = Object.values(JSON.parse(readFileSync(document, "utf8")).paths as Record<string, object>).flatMap(
  (path) => Object.keys(path)
).length

const folders: Array<string> = []

/** A folder that has what a client's own project would have. */
const project = (program: string) => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-client-"))
  folders.push(folder)
  symlinkSync(`${judges}/node_modules`, join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), `{"type":"module"}`)
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts", "sdk"] }))
  copyFileSync(`${programs}${program}.ts.txt`, join(folder, "calls.ts"))
  return folder
}

const ran = async (args: ReadonlyArray<string>, cwd: string) => {
  const { all, code, output } = await node(args, cwd)
  assert.strictEqual(code, 0, all)
  return output
}

beforeAll(install, 300_000)
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

layer(listening(), { excludeTestServices: true })("Clients made from the OpenAPI document", (it) => {
  it.effect.each(clients)("$name's compiles strictly and calls the service", ({ name, ...client }, context) =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const folder = project(client.program)
      yield* Effect.promise(() => ran(client.generate, folder))
      const lines = readFileSync(join(folder, client.generated), "utf8")
      const generated = [...lines.matchAll(client.operation)].length
      yield* Effect.promise(() => ran([tsc, "--project", folder], folder))
      const call = `import { calls } from "./out/calls.js"
console.log(JSON.stringify(await calls(process.argv[1], process.argv[2])))`
      const told = yield* Effect.promise(() =>
        ran(["--input-type=module", "--eval", call, `http://127.0.0.1:${port}`, fullKey], folder)
      )
      const calls = readFileSync(join(folder, "calls.ts"), "utf8").match(/\bawait /g)!.length
      yield* Effect.promise(() => report(context, { [`${name} operations`]: generated, calls }))
      assert.deepStrictEqual(JSON.parse(told), expected)
      assert.strictEqual(generated, operations)
    })
  )
})
