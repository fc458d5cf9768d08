import { afterAll, assert, beforeAll, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
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
  // The declarations of the tools, not the generated code.
  skipLibCheck: true,
  outDir: "out"
}

const clients = [
  {
    name: "openapi-typescript",
    program: "OpenApiFetch",
    generate: [command("openapi-typescript"), document, "--output", "schema.ts"],
    generated: "schema.ts",
    operation: /^ {4}"\w+\.\w+": \{$/gm
  },
  {
    name: "hey-api",
    program: "HeyApi",
    generate: [command("openapi-ts"), "--input", document, "--output", "sdk", "--client", "@hey-api/client-fetch"],
    generated: "sdk/sdk.gen.ts",
    operation: /^export const \w+ = </gm
  },
  {
    name: "orval",
    program: "Orval",
    generate: [
      command("orval"),
      "--input",
      document,
      "--output",
      "sdk/api.ts",
      "--client",
      "fetch",
      "--mode",
      "single"
    ],
    generated: "sdk/api.ts",
    operation: /^export const \w+ = async \(/gm
  },
  {
    name: "kubb",
    program: "Kubb",
    generate: [command("kubb"), "generate", "--config", "kubb.config.js"],
    generated: "sdk/clients/index.ts",
    operation: /^export \{ \w+ \}/gm
  },
  {
    name: "swagger-typescript-api",
    program: "SwaggerTypescriptApi",
    generate: [
      command("swagger-typescript-api"),
      "generate",
      "--path",
      document,
      "--output",
      "sdk",
      "--name",
      "api.ts"
    ],
    generated: "sdk/api.ts",
    operation: /\* @request [A-Z]+:/g
  },
  {
    name: "openapi-zod-client",
    program: "OpenApiZodClient",
    generate: [command("openapi-zod-client"), document, "--output", "sdk/api.ts"],
    generated: "sdk/api.ts",
    operation: /^\s+alias: "/gm
  }
]

/** kubb has no options on its command line. */
const kubb = `import { defineConfig } from "@kubb/core"
import { pluginClient } from "@kubb/plugin-client"
import { pluginOas } from "@kubb/plugin-oas"
import { pluginTs } from "@kubb/plugin-ts"
export default defineConfig({
  root: ".",
  input: { path: "${document}" },
  output: { path: "./sdk", extension: { ".ts": ".js" }, format: false, lint: false },
  plugins: [
    pluginOas({ validate: false, generators: [] }),
    pluginTs({ output: { path: "types" } }),
    pluginClient({ output: { path: "clients" }, client: "fetch" })
  ]
})`

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
  uploaded: 36,
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
  writeFileSync(join(folder, "kubb.config.js"), kubb)
  mkdirSync(join(folder, "sdk"))
  copyFileSync(`${programs}${program}.ts.txt`, join(folder, "calls.ts"))
  copyFileSync(`${programs}Part.ts.txt`, join(folder, "part.ts"))
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

describe("Java", () => {
  it("openapi-generator-plus generates Java with a class for each error", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "waypost-java-"))
    folders.push(folder)
    const generator = "@openapi-generator-plus/java-jaxrs-client-generator"
    await ran([command("openapi-generator-plus"), "-o", folder, "-g", generator, document], tools)
    const classes = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".java"))
    await report(context, { "Java classes": classes.length })
    const error = classes.find((name) => name.endsWith("/DuplicateIdentifierErrorEncoded.java"))
    assert.match(readFileSync(join(folder, error ?? ""), "utf8"), /identifier/)
  })
})
