import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Process from "../support/Process.ts"
import * as Command from "../support/cli/Command.ts"

const { folder, remove } = Process.dataFolder()
afterAll(remove)

const linesOf = (service: Process.Service) =>
  service
    .output()
    .split("\n")
    .filter((line) => line !== "")

describe("the first start", () => {
  const DATA_DIR = join(folder, "first")
  let service: Process.Service
  beforeAll(async () => {
    writeFileSync(
      join(folder, ".env"),
      "PUBLIC_URL=http://from-file.example\nPORT=99999\nCDN_URL=wrong\nS3_BUCKETT=files\n"
    )
    service = await Process.start({ DATA_DIR, CDN_URL: "" }, [], { cwd: folder })
  })
  afterAll(() => service.stop())

  it("prints the first key on a line of its own and keeps it in a file that only its owner reads", () => {
    const key = Process.firstKey(service)
    const file = join(DATA_DIR, "first-key")
    const lines = linesOf(service)
    assert.include(lines, `The first API key: ${key}`)
    assert.isTrue(lines.some((line) => line.startsWith(`It is also in ${file}, `)))
    assert.deepStrictEqual(
      lines.filter((line) => line.startsWith("{") && line.includes(key)),
      []
    )
    assert.strictEqual(readFileSync(file, "utf8"), `${key}\n`)
    assert.strictEqual((statSync(file).mode & 0o777).toString(8), "600")
  })

  it("reads .env in the working directory below the environment, empty variables included, and reports variables that look like misspelt settings", async () => {
    assert.strictEqual(service.url, "http://from-file.example")
    assert.include(service.output(), "S3_BUCKETT is not a setting; did you mean S3_BUCKET?")
    assert.strictEqual(await service.stop(), 0)

    writeFileSync(join(folder, ".env"), "LOG_FORMAT=json\n")
    const list = await Command.start(["keys", "list"], { DATA_DIR: "" }, "", folder).result
    assert.include(list.err, `There is no installation of Waypost in ${join(folder, ".data")}`)
    writeFileSync(join(folder, ".env"), `DATA_DIR=${DATA_DIR}\n`)
    const { code, err, out } = await Command.start(["keys", "list"], {}, "", folder).result
    assert.strictEqual(code, 0, err)
    assert.include(out, "First key")
    assert.include(err, `Installation: ${DATA_DIR}\n`)
  })

  it("fails on a data folder that cannot be created, and names DATA_DIR and the error of the operating system", async () => {
    for (const [DATA_DIR, error] of [
      ["/proc/nope", "ENOENT: no such file or directory"],
      ["/dev/null/data", "ENOTDIR: not a directory"]
    ] as const) {
      const { code, output } = await Process.run({ DATA_DIR })
      assert.strictEqual(code, 1, output)
      assert.include(output, `Cannot use the data folder: ${error}, mkdir '${DATA_DIR}'`)
      assert.include(output, "Choose another DATA_DIR")
    }
  })

  it("fails on a data folder that is a file, and says so", async () => {
    const DATA_DIR = join(folder, "file")
    writeFileSync(DATA_DIR, "")
    const { code, output } = await Process.run({ DATA_DIR })
    assert.strictEqual(code, 1, output)
    assert.include(output, `DATA_DIR: "${DATA_DIR}" is a file. Choose another folder.`)
  })
})

describe("commands that need an installation", () => {
  it.each([
    ["keys create", ["keys", "create", "--name", "Shop", "--preset", "full"]],
    ["keys list", ["keys", "list"]],
    ["keys revoke", ["keys", "revoke", "wp_0000000000000000000000"]],
    ["backup", ["backup", join(folder, "copy")]]
  ])("%s creates none and names the one that is missing", async (_, args) => {
    const DATA_DIR = join(folder, "none")
    const { code, err } = await Command.waypost(args, { DATA_DIR })
    assert.strictEqual(code, 1)
    assert.include(err, `There is no installation of Waypost in ${DATA_DIR}`)
    assert.isFalse(existsSync(DATA_DIR))
  })
})
