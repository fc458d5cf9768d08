import { readFileSync, writeFileSync } from "node:fs"
import { openApi } from "../src/api/Api.ts"

// Writes openapi.json; with --check it only says whether the committed file is the one the definition gives.
const file = new URL("../openapi.json", import.meta.url)
const document = `${JSON.stringify(openApi(), null, 2)}\n`

if (!process.argv.includes("--check")) writeFileSync(file, document)
else if (readFileSync(file, "utf8") !== document) {
  console.error("openapi.json is not what the definition gives; run: npm run openapi")
  process.exit(1)
}
