import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The folder where the tools are installed. */
export const folder = `${root}scripts/validators`
export const document = `${root}openapi.json`

const { dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>
}

const isInstalled = ([name, version]: readonly [string, string]) => {
  const manifest = `${folder}/node_modules/${name}/package.json`
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version
}

/** Installs the tools, unless all are installed in the pinned versions. */
export const install = async () => {
  if (Object.entries(dependencies).every(isInstalled)) return
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder })
}

export interface Ran {
  readonly code: number
  readonly output: string
  /** stdout and stderr, for failure messages. */
  readonly all: string
}

/** Runs a script with this Node.js until it exits. */
export const node = (args: ReadonlyArray<string>, cwd = folder) =>
  new Promise<Ran>((resolve) => {
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
    execFile(process.execPath, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, output, errors) =>
      resolve({
        code: error === null ? 0 : typeof error.code === "number" ? error.code : 1,
        output,
        all: `${output}\n${errors}`
      })
    )
  })

/** The script of a tool's command, or of a command of the repository. */
export const command = (name: string, at = folder) => `${at}/node_modules/.bin/${name}`
export const tsc = command("tsc", root)
