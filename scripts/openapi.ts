import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { openApi } from "../src/api/Api.ts"

// Writes openapi.json; with --check it only compares the file with the definition.
const file = fileURLToPath(new URL("../openapi.json", import.meta.url))
const document = `${JSON.stringify(openApi(), null, 2)}\n`

if (!process.argv.includes("--check")) writeFileSync(file, document)
else if (readFileSync(file, "utf8") !== document) {
  console.error("openapi.json differs from the definition; run: npm run openapi")
  process.exitCode = 1
}
