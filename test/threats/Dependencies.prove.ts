import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { command, folder, install, node } from "../support/contract/ExternalTools.ts"
import { report } from "../support/proofs/Figures.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly inBundle?: boolean
  readonly hasInstallScript?: boolean
}

const lock = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, Locked>>
}
const packages = Object.entries(lock.packages).filter(([path]) => path !== "")
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

/** Licences that permit running, changing and distributing the service. */
const permissive = new Set(
  "MIT MIT-0 Apache-2.0 BSD-2-Clause BSD-3-Clause ISC 0BSD Unlicense CC0-1.0 BlueOak-1.0.0 Zlib Python-2.0".split(" ")
)

/** libvips is a separate library, which can be exchanged, as the LGPL requires. */
const exchangeable = /^@img\/sharp-(?:libvips|wasm32|win32)/

const npm = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    execFile("npm", [...args], { cwd: root, maxBuffer: 64 * 1024 * 1024, timeout: 90_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` })
    )
  })

/** The output of npm when the registry is unreachable or lacks the endpoint. */
const unreachable = /npm error network|audit endpoint returned an error|npm error code E(?:NOTFOUND|CONN|[45]\d\d)/

beforeAll(install, 600_000)

describe("lock file", () => {
  it("the lock file has a strong checksum for every package, and every package comes from the registry", async (ctx) => {
    const without = packages.filter(([, { inBundle, integrity }]) => inBundle !== true && integrity === undefined)
    const weak = packages.filter(
      ([, { integrity }]) => integrity !== undefined && !/^sha512-[\w+/]{86}==$/.test(integrity)
    )
    const elsewhere = packages.filter(
      ([, { link, resolved, version }]) =>
        // The lock file names no host: the checksum identifies a package, whatever the registry.
        link === true || resolved !== undefined || !/^\d+\.\d+\.\d+/.test(version ?? "")
    )
    const file = `${root}package-lock.json`
    const linted = await node([
      command("lockfile-lint"),
      "--path",
      file,
      "--type",
      "npm",
      "--validate-https",
      "--allowed-hosts",
      "npm",
      "--validate-package-names",
      "--validate-integrity"
    ])
    await report(ctx, {
      packages: packages.length,
      "without checksum": without.length,
      "weak checksums": weak.length,
      elsewhere: elsewhere.length,
      "lockfile-lint": linted.code === 0 ? "no issue" : "issues"
    })
    assert.strictEqual(lock.lockfileVersion, 3)
    assert.deepStrictEqual(without, [])
    assert.deepStrictEqual(weak, [])
    assert.deepStrictEqual(elsewhere, [])
    assert.strictEqual(linted.code, 0, linted.all)
  })

  it("package.json has exact versions, and the installed packages match the lock file", async (ctx) => {
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    const loose = Object.entries(wanted).filter(
      ([name, version]) => name !== "@types/node" && !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)
    )
    const installed = JSON.parse(readFileSync(`${root}node_modules/.package-lock.json`, "utf8")) as typeof lock
    const other = Object.entries(installed.packages).filter(
      ([path, { integrity, version }]) =>
        lock.packages[path]?.version !== version || lock.packages[path]?.integrity !== integrity
    )
    await report(ctx, {
      installed: Object.keys(installed.packages).length,
      "other than locked": other.length,
      "loose versions": loose.length
    })
    assert.deepStrictEqual(loose, [])
    assert.deepStrictEqual(
      other.map(([path]) => path),
      []
    )
  })
})

describe("packages", () => {
  it("no package runs an install script", async (ctx) => {
    const scripts = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => nameOf(path))
    // npm reads this list before it runs a script: false forbids it explicitly.
    const allowed: Readonly<Record<string, boolean>> = manifest.allowScripts
    const undecided = scripts.filter((name) => allowed[name] === undefined)
    const run = scripts.filter((name) => allowed[name] === true)
    // The folders of tools and validators have no lock file, so their versions must be exact.
    const folders = readdirSync(`${root}scripts`).filter((name) => name === "tools" || name === "validators")
    const loose = folders.flatMap((name) =>
      Object.entries(
        (
          JSON.parse(readFileSync(`${root}scripts/${name}/package.json`, "utf8")) as Pick<
            typeof manifest,
            "dependencies"
          >
        ).dependencies
      ).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    )
    await report(ctx, { "with a script": scripts.length, "that may run it": run.length, undecided: undecided.length })
    assert.deepStrictEqual(undecided, [])
    assert.deepStrictEqual(run, [])
    assert.deepStrictEqual(loose, [])
    assert.isTrue(folder.endsWith("validators"))
  })

  it("the packages of the service have permissive licences", async (ctx) => {
    const production = packages.filter(([, { dev }]) => dev !== true)
    const strict = production.filter(
      ([path, { license }]) =>
        !exchangeable.test(nameOf(path)) &&
        !(license ?? "")
          .replaceAll(/[()]/g, "")
          .split(/ OR /)
          .some((name) => permissive.has(name))
    )
    await report(ctx, { "production packages": production.length, "not permissive": strict.length })
    assert.deepStrictEqual(
      strict.map(([path, { license }]) => `${nameOf(path)} ${license}`),
      []
    )
  })

  it(
    "packages are signed and have no known vulnerability, where the registry provides this",
    { timeout: 200_000 },
    async (ctx) => {
      const briefly = ["--fetch-retries=0", "--fetch-timeout=15000"]
      const [signatures, vulnerabilities] = await Promise.all([
        npm("audit", "signatures", ...briefly),
        npm("audit", "--omit=dev", "--audit-level=high", ...briefly)
      ])
      const signed = /(\d+) packages? have? verified registry signatures?/.exec(signatures.output)?.[1]
      const unreached = [signatures, vulnerabilities].map(({ code, output }) => code !== 0 && unreachable.test(output))
      await report(ctx, {
        "signed packages": unreached[0] ? "not reachable" : (signed ?? "none"),
        "known vulnerabilities": unreached[1]
          ? "not reachable"
          : vulnerabilities.code === 0
            ? "none that is high"
            : "some"
      })
      // An unreachable registry is reported and is not a failure of the packages.
      assert.lengthOf(unreached, 2)
      if (!unreached[0]) assert.strictEqual(signatures.code, 0, signatures.output)
      if (!unreached[1]) assert.strictEqual(vulnerabilities.code, 0, vulnerabilities.output)
    }
  )
})
