import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isInstalled } from "./build/installed.ts"

// Builds the console and the programs into dist: `npm ci` does, so that `npm start` serves the one and starts the others.

// A production installation keeps what was built before.
if (isInstalled("vite")) {
  await (await import("./build/console.ts")).build()
  await (await import("./build/programs.ts")).build()
} else if (!existsSync(fileURLToPath(new URL("../dist/console/index.html", import.meta.url)))) {
  console.log(
    "The console is not built, because packages for development are not installed: npm ci without --omit=dev builds it."
  )
}
