import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { beforeAll } from "vitest"
import { folder, install } from "../support/contract/ExternalTools.ts"
import { report } from "../support/proofs/Figures.ts"

const source = fileURLToPath(new URL("../../src", import.meta.url))
const requireTool = createRequire(`${folder}/package.json`)

/** The used API of the classic compiler; the native compiler of the repository has none. */
interface Node {
  readonly kind: number
  readonly text: string
  readonly arguments?: ReadonlyArray<Node>
  readonly expression?: Node
  getText(file: Node): string
  getStart(file: Node): number
  forEachChild(visit: (node: Node) => void): void
}
interface TypeScript {
  readonly SyntaxKind: Readonly<
    Record<
      | "RegularExpressionLiteral"
      | "NewExpression"
      | "CallExpression"
      | "StringLiteral"
      | "NoSubstitutionTemplateLiteral",
      number
    >
  >
  readonly ScriptTarget: { readonly Latest: number }
  createSourceFile(name: string, text: string, target: number, parents: boolean): Node
}
interface Recheck {
  check(
    source: string,
    flags: string,
    options: { readonly timeout: number }
  ): Promise<{
    readonly status: string
    readonly complexity?: { readonly type: string; readonly summary?: string }
    readonly error?: { readonly kind: string }
  }>
}

interface Expression {
  readonly at: string
  readonly source: string
  readonly flags: string
}

/** Every regular expression of a file; one that is built at run time has an empty source. */
const expressionsIn = (ts: TypeScript, path: string): ReadonlyArray<Expression> => {
  const text = readFileSync(`${source}/${path}`, "utf8")
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: Array<Expression> = []
  const { CallExpression, NewExpression, NoSubstitutionTemplateLiteral, RegularExpressionLiteral, StringLiteral } =
    ts.SyntaxKind
  const visit = (node: Node) => {
    const at = `src/${path}:${text.slice(0, node.getStart(file)).split("\n").length}`
    if (node.kind === RegularExpressionLiteral) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.getText(file))!
      found.push({ at, source: source!, flags: flags! })
    }
    if ((node.kind === NewExpression || node.kind === CallExpression) && node.expression?.getText(file) === "RegExp") {
      const [made, flags] = node.arguments ?? []
      const isText = made !== undefined && [StringLiteral, NoSubstitutionTemplateLiteral].includes(made.kind)
      found.push({ at, source: isText ? made.text : "", flags: flags?.text ?? "" })
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

beforeAll(install, 600_000)

it(
  "every regular expression of the service is safe against catastrophic backtracking",
  { timeout: 120_000 },
  async (ctx) => {
    const ts = requireTool("typescript") as TypeScript
    // Otherwise recheck starts a Java or native process if it finds one.
    process.env["RECHECK_BACKEND"] = "pure"
    const recheck = requireTool("recheck") as Recheck
    const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(?:ts|tsx|js|mjs)$/.test(name)
    )
    const expressions = files.flatMap((file) => expressionsIn(ts, file))
    const made = expressions.filter(({ source }) => source === "")
    const wrong: Array<string> = []
    for (const { at, flags, source } of expressions.filter(({ source }) => source !== "")) {
      const { complexity, error, status } = await recheck.check(source, flags, { timeout: 10_000 })
      if (status !== "safe")
        wrong.push(`${at} /${source}/${flags}: ${status} ${complexity?.summary ?? complexity?.type ?? error?.kind}`)
    }
    // recheck must detect a known slow expression.
    const { status: slow } = await recheck.check("^(a+)+$", "", { timeout: 10_000 })
    await report(ctx, {
      files: files.length,
      expressions: expressions.length,
      "not safe": wrong.length,
      "made at run time": made.length
    })
    assert.strictEqual(slow, "vulnerable")
    assert.isAbove(expressions.length, 40)
    assert.deepStrictEqual(wrong, [])
    // Made of constants and of the paths of routes.
    assert.deepStrictEqual(made.map(({ at }) => at.replace(/:\d+$/, "")).toSorted(), [
      "src/domain/assets/AssetCategory.ts",
      "src/http/routes/AcceptHeaders.ts",
      "src/http/transport/RouteTable.ts",
      "src/storage/PartUrl.ts"
    ])
  }
)
