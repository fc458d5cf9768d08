import { SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/api/Api.ts"
import { answerOf, type Side } from "./cases.ts"

/** A list of the definition whose pages begin behind cursors and whose records can be selected from. */
export interface List {
  /** With `:uuid` where it belongs to a record. */
  readonly path: string
  /** What it can be sorted by in every request. */
  readonly sortable: ReadonlyArray<string>
}

const parameters = ["after", "fields", "sortBy"]

const wordsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap(wordsOf)
  return SchemaAST.isLiteral(ast) && typeof ast.literal === "string" ? [ast.literal] : []
}

/** Orders that need another parameter. */
const conditional: ReadonlySet<string> = new Set(["distance", "relevance"])

/** All lists of the definition, in its order. */
export const lists = (): ReadonlyArray<List> => {
  const found: Array<List> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const ast = endpoint.query === undefined ? undefined : SchemaAST.toEncoded(endpoint.query.ast)
      if (endpoint.method !== "GET" || ast === undefined || !SchemaAST.isObjects(ast)) return
      const members = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), type]))
      if (!parameters.every((name) => members.has(name))) return
      const sortable = wordsOf(members.get("sortBy")!).filter((word) => !conditional.has(word))
      found.push({ path: endpoint.path.replace(/\/$/, ""), sortable })
    }
  })
  return found
}

/** How many of the oldest and of the newest records are candidates. */
const candidates = 10

/** The path of a list at one size: within the record of the candidates that has the longest. Undefined if none has one. */
export const pathAt = async (side: Side, { path }: List): Promise<string | undefined> => {
  const [owners, member] = path.split("/:uuid")
  if (member === undefined) return path
  const uuids = async (order: string) => {
    const { data } = await answerOf(side, `${owners!}?fields=uuid&limit=${candidates}&sortOrder=${order}`)
    return (data as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid)
  }
  let longest: { readonly path: string; readonly total: number } | undefined
  for (const uuid of [...(await uuids("asc")), ...(await uuids("desc"))]) {
    const own = `${owners!}/${uuid}${member}`
    // A product without a template has no readiness.
    const total = await answerOf(side, `${own}?limit=1`).then(
      ({ pagination }) => pagination.total,
      () => 0
    )
    if (total > (longest?.total ?? 0)) longest = { path: own, total }
  }
  return longest?.path
}
