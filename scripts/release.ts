import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { breakingChanges, type Document } from "../test/support/contract/Compatibility.ts"

// Writes openapi.released.json, the contract of the latest release, and migrations.released.json, the number of its last migration,
// which test/sql/Upgrades.test.ts compares with; with --check it only compares openapi.json.
const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const [current, released] = [fileOf("openapi.json"), fileOf("openapi.released.json")]
const read = (file: string): Document => JSON.parse(readFileSync(file, "utf8"))

if (!process.argv.includes("--check")) {
  copyFileSync(current, released)
  const numbers = readdirSync(fileOf("src/sql/migrations")).map((name) => Number.parseInt(name, 10))
  writeFileSync(fileOf("migrations.released.json"), `{ "last": ${Math.max(...numbers)} }\n`)
} else {
  const changes = breakingChanges(read(released), read(current))
  if (changes.length > 0) {
    console.error(["openapi.json breaks clients of openapi.released.json:", ...changes].join("\n"))
    process.exitCode = 1
  }
}
