import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { report } from "../support/proofs/Figures.ts"
import { command, document, install, node } from "../support/contract/ExternalTools.ts"

const temporary = (name: string, text: string) => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-validators-"))
  const file = join(folder, name)
  writeFileSync(file, text)
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A document in which every validator must find errors. */
const broken = temporary("openapi.json", `{"openapi":"3.1.0","info":{"title":"Broken"},"paths":{"/a":{"get":{}}}}`)
const ruleset = temporary("spectral.json", `{"extends":["spectral:oas"]}`)

const redocly = async (file: string) => {
  const { all, output } = await node([command("redocly"), "lint", file, "--format=json"])
  const { totals } = JSON.parse(output === "" ? assert.fail(all) : output) as {
    readonly totals: { readonly errors: number; readonly warnings: number }
  }
  return totals
}

const spectral = async (file: string) => {
  const args = ["lint", file, "--ruleset", ruleset.file, "--fail-severity=error", "--format=json", "--quiet"]
  const { all, code, output } = await node([command("spectral"), ...args])
  const found = JSON.parse(output === "" ? assert.fail(all) : output) as ReadonlyArray<{ readonly severity: number }>
  const errors = found.filter(({ severity }) => severity === 0).length
  assert.strictEqual(code, errors === 0 ? 0 : 1, all)
  return { errors, warnings: found.length - errors }
}

const validate = `import SwaggerParser from "@apidevtools/swagger-parser"
await SwaggerParser.validate(process.argv[1])`
const swaggerParser = async (file: string) => {
  const { code } = await node(["--input-type=module", "--eval", validate, file])
  return { errors: code === 0 ? 0 : 1, warnings: 0 }
}

const validators = { redocly, spectral, "swagger-parser": swaggerParser }

describe("OpenAPI document", () => {
  beforeAll(install, 300_000)
  afterAll(() => {
    broken.remove()
    ruleset.remove()
  })

  it.for(Object.entries(validators))(
    "%s finds no error in the OpenAPI document, but errors in a broken one",
    async ([name, validator], context) => {
      const { errors, warnings } = await validator(document)
      await report(context, { [`${name} errors`]: errors, [`${name} warnings`]: warnings })
      assert.strictEqual(errors, 0)
      assert.isAbove((await validator(broken.file)).errors, 0)
    }
  )
})
