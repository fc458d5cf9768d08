import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { routes } from "../test/support/contract/Routes.ts"

// Writes how the promise client requests each operation, from the definition: the client has no schemas at run time.
const root = fileURLToPath(new URL("..", import.meta.url))
const file = join(root, "src/client/promise/Routes.ts")

writeFileSync(
  file,
  `import type { Routes } from "./Types.ts"

/** How each operation is requested. Written by \`node scripts/routes.ts\`; the types compare it with the definition. */
export const routes = ${JSON.stringify(routes(), undefined, 2)} as const satisfies Routes
`
)
execFileSync(join(root, "node_modules/.bin/oxfmt"), [file], { stdio: "inherit" })
