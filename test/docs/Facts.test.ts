import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { commandFor } from "../../src/cli/Commands.ts"
import { eventTypes } from "../../src/domain/changes/EventType.ts"
import { ModuleName } from "../../src/domain/catalog/ModuleName.ts"
import { Api } from "../../src/api/Api.ts"
import { type Limits, maxBodyBytes, RouteLimits } from "../../src/api/Limits.ts"
import { Permission } from "../../src/domain/keys/Permission.ts"
import { limits as planLimits } from "../../src/domain/plans/Plan.ts"
import { maxBulkBytes, maxDataBytes, NotAppliedError } from "../../src/domain/write/Bulk.ts"
import {
  commonErrors,
  InvalidAddressError,
  RangeNotSatisfiableError,
  RateLimitExceededError,
  UnsupportedMediaTypeError
} from "../../src/domain/write/RequestErrors.ts"
import * as UploadParts from "../../src/http/routes/UploadParts.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { names } from "../../src/settings/Config.ts"
import { sessionSettings, StatementLimits } from "../../src/sql/connections/Pools.ts"
import { document, operations } from "../support/contract/Documented.ts"
import { promises } from "../support/proofs/Promises.ts"
import { guides, read, root } from "./Guide.ts"

/** The code spans of a text. */
const spansOf = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

/** The code spans in the first cells of the tables of a text. */
const firstCells = (text: string) => [...text.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) => spansOf(cell!))

/** The part of a guide below a heading. */
const below = (text: string, heading: string) => text.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!

describe("The catalogue of errors", () => {
  it("the catalogue of errors has every error of the API with its status, and no others", () => {
    const ofOperations = operations
      .flatMap(({ answers }) => answers)
      .filter(({ status }) => status >= 400)
      .map(({ status, tag }) => `${status} ${tag}`)
    // Routes with signed URLs are not in the document, and this error is one of an operation of a bulk request.
    const others = [...commonErrors, InvalidAddressError, RangeNotSatisfiableError, NotAppliedError].map(
      (error) => `${String(Schema.resolveAnnotations(error)?.["httpApiStatus"])} ${error.fields._tag.schema.literal}`
    )
    const listed = [...read("docs/errors.md").matchAll(/^\| (\d{3}) \| (.+?) \|/gm)].flatMap(([, status, tags]) =>
      [...tags!.matchAll(/`(\w+Error)`/g)].map(([, tag]) => `${status} ${tag}`)
    )
    assert.deepStrictEqual(listed.toSorted(), [...new Set([...ofOperations, ...others])].toSorted())
  })
})

describe("The guide to deploying", () => {
  it("gives the role behind a pooler the settings that sessions of the service have", () => {
    const settings = [...read("docs/deploying.md").matchAll(/^alter role waypost set (\w+) = '(\w+)';$/gm)]
    const inMillis = settings.map(([, name, value]) => [name, value!.replace(/^(\d+)s$/, "$1000")])
    assert.deepStrictEqual(Object.fromEntries(inMillis), sessionSettings(StatementLimits.defaultValue()))
  })

  it("the guide to deploying has sizes of machines at which the requests of the guide to sizing leave half of each core free", () => {
    const sizing = read("docs/sizing.md")
    const number = (text: string) => Number(text.replaceAll(",", ""))
    const cost = (operation: string) => {
      const [, node = "", database = ""] = new RegExp(`^\\| ${operation} \\| (.+) us \\| (.+) us \\|`, "m").exec(
        sizing
      )!
      return { node: number(node) / 1e6, database: number(database) / 1e6 }
    }
    const idle = Number(/^\| no request \| (\d+) %/m.exec(sizing)![1]) / 100
    const rows = [...read("docs/deploying.md").matchAll(/^\| ([\d,]+) writes, or ([\d,]+) reads \| (\d)/gm)]
    assert.lengthOf(rows, 2)
    for (const [, writes = "", reads = "", cores] of rows) {
      const peaks = [
        { count: number(writes), ...cost("creation") },
        { count: number(reads), ...cost("read of a record") }
      ]
      for (const { count, database, node } of peaks) {
        const used = [idle + count * node, count * database]
        const busiest = cores === "1" ? used[0]! + used[1]! : Math.max(...used)
        assert.isAtMost(busiest, 0.5, `${count} a second on ${cores}`)
      }
    }
  })
})

describe("The errors of any operation", () => {
  /** The row of an error. */
  const rowOf = (tag: string) => new RegExp(`^\\| \\d{3} \\| \`${tag}\` .+$`, "m").exec(read("docs/errors.md"))![0]

  it("the errors of any operation have the limits of bodies, and the types that an operation takes", () => {
    const limits = [maxBodyBytes, maxBulkBytes, maxDataBytes, planLimits.fileBytes].map(
      (bytes) => `${bytes / 1024 ** 2} MiB`
    )
    assert.includeOrderedMembers(rowOf("PayloadTooLargeError").match(/\d+ MiB/g)!, limits)
    const types = Object.keys(document.paths["/v1/plans"]!["post"]!.requestBody!.content)
    const row = rowOf("UnsupportedMediaTypeError")
    for (const type of types) assert.include(row, type)
  })

  it("the errors of any operation have the causes that the document has, of an error with several", () => {
    for (const error of [UnsupportedMediaTypeError, RateLimitExceededError]) {
      const description = Schema.resolveAnnotations(error)?.["description"]
      const causes = String(description).replace(" `Retry-After` is the time to wait.", "")
      assert.include(rowOf(error.fields._tag.schema.literal), ` | ${causes} | `)
    }
  })
})

describe("The guide to safe writes", () => {
  it("names the operations that reject validate-only, and no others", () => {
    const [sentence = ""] = /These reject the preference .+?\./s.exec(read("docs/safe-writes.md")) ?? []
    const isNamed = (method: string, path: string) =>
      spansOf(sentence).some((span) =>
        span.startsWith("…")
          ? path.startsWith("/v1/webhooks/") && path.endsWith(span.slice(1))
          : span === `${method} ${path}` || path.startsWith(span)
      )
    const writes = operations.filter(({ method }) => method !== "GET")
    for (const { method, path } of writes) {
      const rejects = !document.paths[path]![method.toLowerCase()]!.parameters.some(({ name }) => name === "Prefer")
      assert.strictEqual(isNamed(method, path), rejects, `${method} ${path}`)
    }
  })
})

describe("The guide to concepts", () => {
  it("the guide to concepts has the statuses of success", () => {
    const [sentence = ""] = /A creation has status .+?\./.exec(read("docs/concepts.md")) ?? []
    const statuses = operations.flatMap(({ answers }) => answers).map(({ status }) => status)
    const ofSuccess = new Set(statuses.filter((status) => status >= 200 && status < 300))
    assert.sameMembers(sentence.match(/\d{3}/g)!.map(Number), [...ofSuccess])
  })

  it("the guide to concepts has every time limit of a request", () => {
    const limits = [{ answerMillis: TimeLimits.defaultValue().answer }, UploadParts.route.limits] as Array<
      Partial<Limits>
    >
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => void limits.push(Context.getOrUndefined(endpoint.annotations, RouteLimits) ?? {})
    })
    const millis = limits.flatMap(({ afterBodyMillis, answerMillis }) =>
      [afterBodyMillis ?? [], answerMillis ?? []].flat()
    )
    const [text = ""] = /A request has \d+ seconds.+(?:\n  .+)*/.exec(read("docs/concepts.md")) ?? []
    const units = { second: 1000, minute: 60_000, hour: 3_600_000 }
    const listed = [...text.matchAll(/(\d+) (second|minute|hour)/g)].map(
      ([, count, unit]) => Number(count) * units[unit as keyof typeof units]
    )
    assert.sameMembers(listed, [...new Set(millis)])
  })
})

describe("The guide to settings", () => {
  it("the guide to settings has every setting, and no others", () => {
    const [service = ""] = read("docs/settings.md").split("\n## Settings of the command line\n")
    assert.deepStrictEqual(firstCells(service).toSorted(), names.toSorted())
  })
})

describe("The guide to the command line", () => {
  it("the guide to the command line has every command, and no others", async () => {
    const { subcommands } = await Effect.runPromise(commandFor(["--completions"]))
    const commands = subcommands.flatMap(({ commands }) => commands)
    const resources = new Set(operations.map(({ path }) => path.split("/")[2]))
    // Commands for a resource are in the row of their verb.
    const names = commands.flatMap(({ name, subcommands }) => {
      const parts = subcommands.flatMap(({ commands }) => commands).filter((part) => !resources.has(part.name))
      return parts.length === 0 ? [name] : parts.map((part) => `${name} ${part.name}`)
    })
    const [table = ""] = read("docs/command-line.md").split("\n## ")
    const listed = firstCells(table).map((name) => name.replace(/ locations$/, ""))
    assert.deepStrictEqual(listed.toSorted(), names.toSorted())
  })

  it("says that every command has examples, and each has", async () => {
    assert.include(read("docs/command-line.md"), "Every command has `--help` with examples")
    const { subcommands } = await Effect.runPromise(commandFor(["--completions"]))
    const resources = new Set(operations.map(({ path }) => path.split("/")[2]))
    for (const { examples, name, subcommands: own } of subcommands.flatMap(({ commands }) => commands)) {
      assert.isNotEmpty(examples, name)
      for (const part of own.flatMap(({ commands }) => commands)) {
        if (!resources.has(part.name) || name === "quality") assert.isNotEmpty(part.examples, `${name} ${part.name}`)
      }
    }
  })
})

describe("The guide to following changes", () => {
  it("the guide to following changes has every type of event, and no others", () => {
    const text = below(read("docs/following-changes.md"), "Types of events")
    const [, actions = "", erased = ""] = /`<record type>\.<(.+?)>`, or `(.+?)`/.exec(text)!
    const [, records = ""] = /The record types are (.+?), of which the last two are not restored\./s.exec(text)!
    const types = spansOf(records).flatMap((record, index, { length }) =>
      actions
        .split("|")
        .filter((action) => action !== "restored" || index < length - 2)
        .map((action) => `${record}.${action}`)
    )
    assert.sameMembers([...types, erased], [...eventTypes])
  })
})

describe("The guide to keys", () => {
  it("the guide to keys has every permission, and no others", () => {
    const text = below(read("docs/keys-and-permissions.md"), "Permissions")
    const [unused = ""] = /Keys also accept .+? yet/s.exec(text) ?? []
    const listed = [
      ...[...text.matchAll(/^\| (`.+?) \| (`.+?) \|/gm)].flatMap(([, resources, actions]) =>
        spansOf(resources!).flatMap((resource) => spansOf(actions!).map((action) => `${action}:${resource}`))
      ),
      ...spansOf(unused)
    ]
    assert.deepStrictEqual(listed.toSorted(), Permission.literals.toSorted())
  })

  it("names the operations that need another action than that of their method", () => {
    const actions: Readonly<Record<string, string>> = { GET: "read", POST: "create", DELETE: "delete" }
    const [update = "", erase = ""] = below(read("docs/keys-and-permissions.md"), "Permissions")
      .split("need another action:")[1]!
      .match(/^- .+(?:\n  .+)*/gm)!
    const listed = [
      ...spansOf(update).map((span) => `update ${span}`),
      ...spansOf(erase).map((span) => `delete ${span}`)
    ].filter((entry) => entry.includes("…"))
    const needed = operations.flatMap(({ method, path, permissions }) => {
      const [own = ""] = permissions.map((permission) => permission.split(":")[0]!)
      // Every step of an upload needs `create`, as the table says.
      if (own === "" || own === (actions[method] ?? "update") || path.startsWith("/v1/uploads")) return []
      const last = path.split("/").at(-1)!
      return [`${own} …/${method === "DELETE" ? "modules/{module}" : last}`]
    })
    assert.sameMembers(listed, [...new Set(needed)])
  })
})

describe("The guide to uploads", () => {
  it("the guide to uploads has the permissions of every request to the object store, and no others", () => {
    const needed: Readonly<Record<string, string>> = {
      headBucket: "ListBucket",
      headObject: "GetObject",
      getObject: "GetObject",
      putObject: "PutObject",
      deleteObject: "DeleteObject",
      listObjectsV2: "ListBucket",
      createMultipartUpload: "PutObject",
      uploadPart: "PutObject",
      completeMultipartUpload: "PutObject",
      abortMultipartUpload: "AbortMultipartUpload",
      listParts: "ListMultipartUploadParts",
      listMultipartUploads: "ListBucketMultipartUploads"
    }
    const sources = readdirSync(join(root, "src/storage")).filter((file) => file.startsWith("S3"))
    const requests = new Set(
      sources.flatMap((file) => [...read(`src/storage/${file}`).matchAll(/\bs3\.(\w+)\(/g)].map(([, name]) => name!))
    )
    assert.sameMembers([...requests], Object.keys(needed))
    const named = spansOf(below(read("docs/uploading.md"), "Store files in S3")).filter((span) =>
      span.startsWith("s3:")
    )
    assert.sameMembers(
      named,
      [...new Set(Object.values(needed))].map((action) => `s3:${action}`)
    )
  })
})

describe("The promises", () => {
  it("the promises are all in their guide, and no others", () => {
    const ids = [...read("docs/promises.md").matchAll(/^\| ([A-Z]+\d*(?:, [A-Z]+\d*)*) \|/gm)].flatMap(([, cell]) =>
      cell!.split(", ")
    )
    assert.deepStrictEqual(ids.toSorted(), promises.map(({ id }) => id).toSorted())
  })
})

describe("The guide to modules", () => {
  it("the guide to modules has every module", () => {
    const modules = firstCells(below(read("docs/products-and-modules.md"), "The sixteen modules"))
    assert.deepStrictEqual(modules, [...ModuleName.literals])
  })
})

describe("The guide to lists", () => {
  it("the guide to lists has the fields by which each resource is sorted", () => {
    const rows = below(read("docs/filtering-sorting-paging.md"), "Sorting").matchAll(/^\| ([a-z]+) \| (`.+`)/gm)
    const listed = [...rows].map(([, name = "", fields = ""]) => ({
      name,
      fields: fields.split(";")[0]!.replaceAll("`", "").split(", ")
    }))
    assert.isAbove(listed.length, 5)
    for (const { fields, name } of listed) {
      const parameters = document.paths[`/v1/${name}`]!["get"]!.parameters
      assert.deepStrictEqual(fields, parameters.find((parameter) => parameter.name === "sortBy")?.schema.enum, name)
    }
  })

  it("names the lists with pages that have no filter or no order, and the records that are read without fields", () => {
    const text = read("docs/filtering-sorting-paging.md")
    const reads = operations
      .filter(({ method }) => method === "GET")
      .map(({ path }) => ({
        path: path.replace(/.+(?=\/usages$)/, "…"),
        query: new Set(document.paths[path]!["get"]!.parameters.map(({ name }) => name))
      }))
    const without = (parameter: string, others: ReadonlyArray<string>) =>
      reads
        .filter(({ query }) => !query.has(parameter) && others.every((other) => query.has(other)))
        .map(({ path }) => path)
    const [pages = [], unordered = []] = below(text, "Lists with fewer parameters").match(/^- .+/gm)!.map(spansOf)
    assert.sameMembers(pages, [...new Set(without("filter", ["page"]))])
    assert.sameMembers(unordered, without("sortBy", ["page", "filter"]))
    assert.deepStrictEqual(without("fields", ["filter"]), [])
    const records = without("fields", []).filter((path) => /\/\{uuid\}$|\/modules\//.test(path))
    const [, first, second, third, others = ""] = /Reads of (\w+), (\w+)\s+and\s+(\w+), (.+?) take none\./.exec(text)!
    assert.sameMembers([first, second, third], [...new Set(records.map((path) => path.split("/").at(-2)))])
    assert.includeMembers(without("fields", []), spansOf(others))
  })
})

/** The anchors of the headings of a file, as GitHub makes them. */
const anchorsOf = (file: string) =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, "")
      .replaceAll(" ", "-")
  )

describe.each([...guides, "README.md"])("%s", (file) => {
  it("links only to files and headings that exist", () => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, path = "", anchor]) => ({
      target: path === "" ? file : join(dirname(file), path),
      anchor
    }))
    const broken = links.filter(
      ({ anchor, target }) =>
        !existsSync(join(root, target)) ||
        (anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).includes(anchor))
    )
    assert.deepStrictEqual(broken, [])
  })
})

describe("The index of guides", () => {
  it("the index of guides has every guide once", () => {
    const linked = [...read("docs/README.md").matchAll(/^- \[[^\]]+\]\(([a-z-]+\.md)\)/gm)].map(
      ([, file]) => `docs/${file}`
    )
    assert.sameMembers(
      linked,
      guides.filter((file) => file !== "docs/README.md")
    )
  })
})
