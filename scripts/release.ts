import { copyFileSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { breakingChanges, type Document } from "../test/support/contract/Compatibility.ts"

// Writes openapi.released.json, the contract of the latest release; with --check it only compares openapi.json with it.
const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const [current, released] = [fileOf("openapi.json"), fileOf("openapi.released.json")]
const read = (file: string): Document => JSON.parse(readFileSync(file, "utf8"))

if (!process.argv.includes("--check")) copyFileSync(current, released)
else {
  const changes = breakingChanges(read(released), read(current))
  if (changes.length > 0) {
    console.error(["openapi.json breaks clients of openapi.released.json:", ...changes].join("\n"))
    process.exitCode = 1
  }
}
