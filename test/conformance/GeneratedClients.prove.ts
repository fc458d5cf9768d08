import { afterAll, assert, beforeAll, layer } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { report } from "../support/proofs/Figures.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"
import { command, document, folder as tools, install, node, tsc } from "../support/contract/ExternalTools.ts"

/**
 * The programs that use generated clients are text files, because they compile only with the generated code, separately
 * from the repository.
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
    // By default it makes members with a default required in requests.
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

/** The output of a program when the service conforms to the document. */
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
  rejected: ["name wrongType"]
}

const operations = Object.values(JSON.parse(readFileSync(document, "utf8")).paths as Record<string, object>).flatMap(
  (path) => Object.keys(path)
).length

const folders: Array<string> = []

/** A folder like the project of a client. */
const project = (program: string) => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-client-"))
  folders.push(folder)
  symlinkSync(`${tools}/node_modules`, join(folder, "node_modules"))
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

layer(listening(), { excludeTestServices: true })("clients generated from the OpenAPI document", (it) => {
  it.effect.each(clients)("the $name client compiles strictly and calls the service", ({ name, ...client }, context) =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const folder = project(client.program)
      yield* Effect.promise(() => ran(client.generate, folder))
      const lines = readFileSync(join(folder, client.generated), "utf8")
      const generated = [...lines.matchAll(client.operation)].length
      yield* Effect.promise(() => ran([tsc, "--project", folder], folder))
      const call = `import { calls } from "./out/calls.js"
console.log(JSON.stringify(await calls(process.argv[1], process.argv[2])))`
      const output = yield* Effect.promise(() =>
        ran(["--input-type=module", "--eval", call, `http://127.0.0.1:${port}`, fullKey], folder)
      )
      const calls = readFileSync(join(folder, "calls.ts"), "utf8").match(/\bawait /g)!.length
      yield* Effect.promise(() => report(context, { [`${name} operations`]: generated, calls }))
      assert.deepStrictEqual(JSON.parse(output), expected)
      assert.strictEqual(generated, operations)
    })
  )
})
