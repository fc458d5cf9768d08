import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { command, folder, install, node } from "../support/contract/Judges.ts"
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

/** Licences under which a service may be run, changed and given away. */
const permissive = new Set(
  "MIT MIT-0 Apache-2.0 BSD-2-Clause BSD-3-Clause ISC 0BSD Unlicense CC0-1.0 BlueOak-1.0.0 Zlib Python-2.0".split(" ")
)

/** libvips is a library of its own beside the service: the LGPL asks that it can be exchanged, and it can. */
const exchangeable = /^@img\/sharp-(?:libvips|wasm32|win32)/

const npm = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    execFile("npm", [...args], { cwd: root, maxBuffer: 64 * 1024 * 1024, timeout: 90_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` })
    )
  })

/** What npm says when nobody answers it, or the registry here has no such page. */
const unreachable = /npm error network|audit endpoint returned an error|npm error code E(?:NOTFOUND|CONN|[45]\d\d)/

beforeAll(install, 600_000)

describe("The lock file", () => {
  it("has a strong checksum for every package, and none comes from elsewhere than the registry", async (ctx) => {
    const without = packages.filter(([, { inBundle, integrity }]) => inBundle !== true && integrity === undefined)
    const weak = packages.filter(
      ([, { integrity }]) => integrity !== undefined && !/^sha512-[\w+/]{86}==$/.test(integrity)
    )
    const elsewhere = packages.filter(
      ([, { link, resolved, version }]) =>
        // The lock file names no host: a package is what its checksum says, wherever it comes from.
        link === true || resolved !== undefined || !/^\d+\.\d+\.\d+/.test(version ?? "")
    )
    const file = `${root}package-lock.json`
    const judged = await node([
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
      "lockfile-lint": judged.code === 0 ? "no issue" : "issues"
    })
    assert.strictEqual(lock.lockfileVersion, 3)
    assert.deepStrictEqual(without, [])
    assert.deepStrictEqual(weak, [])
    assert.deepStrictEqual(elsewhere, [])
    assert.strictEqual(judged.code, 0, judged.all)
  })

  it("asks for exact versions, and is what is installed", async (ctx) => {
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

describe("Packages", () => {
  it("run nothing when they are installed", async (ctx) => {
    const scripts = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => nameOf(path))
    // npm asks this list before it runs one: false is a no that is written down.
    const allowed: Readonly<Record<string, boolean>> = manifest.allowScripts
    const undecided = scripts.filter((name) => allowed[name] === undefined)
    const run = scripts.filter((name) => allowed[name] === true)
    // The folder of the tools and that of the judges have no lock file; their versions are exact.
    const beside = readdirSync(`${root}scripts`).filter((name) => name === "tools" || name === "judges")
    const loose = beside.flatMap((name) =>
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
    assert.isTrue(folder.endsWith("judges"))
  })

  it("of the service have permissive licences", async (ctx) => {
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

  it("are signed, and have no known weakness, as far as the registry says", { timeout: 200_000 }, async (ctx) => {
    const briefly = ["--fetch-retries=0", "--fetch-timeout=15000"]
    const [signatures, weaknesses] = await Promise.all([
      npm("audit", "signatures", ...briefly),
      npm("audit", "--omit=dev", "--audit-level=high", ...briefly)
    ])
    const signed = /(\d+) packages? have? verified registry signatures?/.exec(signatures.output)?.[1]
    const away = [signatures, weaknesses].map(({ code, output }) => code !== 0 && unreachable.test(output))
    await report(ctx, {
      "signed packages": away[0] ? "not reachable" : (signed ?? "none"),
      "known weaknesses": away[1] ? "not reachable" : weaknesses.code === 0 ? "none that is high" : "some"
    })
    // What could not be asked is told as that, and is no failure of the packages.
    assert.lengthOf(away, 2)
    if (!away[0]) assert.strictEqual(signatures.code, 0, signatures.output)
    if (!away[1]) assert.strictEqual(weaknesses.code, 0, weaknesses.output)
  })
})
