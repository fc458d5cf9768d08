import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

// Builds the web console into dist/console: `npm run build` does, and so does `npm ci`. The screens derive from the
// definition of the API, which is read here and not in the browser.
const root = fileURLToPath(new URL("..", import.meta.url))

/** Vite is a development dependency: a production installation keeps the console that was built before. */
const isInstalled = () => {
  try {
    createRequire(import.meta.url).resolve("vite")
    return true
  } catch {
    return false
  }
}

const build = async () => {
  const { build } = await import("vite")
  const { derive } = await import("../src/console/definition/Derive.ts")
  const { formsOf } = await import("../src/console/definition/FormSchemas.ts")
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
  const modules: Readonly<Record<string, () => unknown>> = {
    "virtual:definition": () => derive(version),
    "virtual:forms": () => formsOf(),
    // Only the tests of rjsf use it.
    "@rjsf/validator-ajv8": () => ({})
  }
  await build({
    root: `${root}src/console`,
    base: "/console/",
    configFile: false,
    logLevel: "error",
    build: {
      outDir: `${root}dist/console`,
      emptyOutDir: true,
      // A file in the page would be data: that the Content-Security-Policy forbids.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false }
    },
    plugins: [
      {
        name: "definition",
        resolveId: (id) => (id in modules ? `\0${id}` : undefined),
        load: (id) => {
          const make = modules[id.slice(1)]
          return id.startsWith("\0") && make !== undefined ? `export default ${JSON.stringify(make())}` : undefined
        }
      }
    ]
  })
}

if (isInstalled()) await build()
else if (!existsSync(`${root}dist/console/index.html`)) {
  console.log("The console is not built, because Vite is not installed: npm ci without --omit=dev builds it.")
}
