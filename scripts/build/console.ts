import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build as bundle } from "vite"
import { derive } from "../../src/console/definition/Derive.ts"
import { formsOf } from "../../src/console/definition/FormSchemas.ts"
import { noted } from "./sources.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Builds the web console into dist/console. The screens derive from the definition of the API, which is read here and not in the browser. */
export const build = async () => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
  const modules: Readonly<Record<string, () => unknown>> = {
    "virtual:definition": () => derive(version),
    "virtual:forms": () => formsOf(),
    // Only the tests of rjsf use it.
    "@rjsf/validator-ajv8": () => ({})
  }
  // A test, or the shell of a developer, may have another one, and React would be its version for development.
  process.env["NODE_ENV"] = "production"
  const sources = noted()
  await bundle({
    root: `${root}src/console`,
    base: "/console/",
    configFile: false,
    logLevel: "error",
    build: {
      outDir: `${root}dist/console`,
      emptyOutDir: true,
      // The default, "assets", is the name of a screen.
      assetsDir: "files",
      // A file in the page would be data: that the Content-Security-Policy forbids.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false }
    },
    plugins: [
      sources.plugin,
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
  sources.write(`${root}dist/console`)
}
