import { objectOf } from "../../domain/schema/Json.ts"
import type { Group, Guide } from "./Guides.ts"
import type { Resolve } from "./Json.ts"
import { anchorOf } from "./Markdown.ts"
import type { Operation, Parameter, Resource } from "./Reference.ts"
import { shapeOf } from "./Schemas.ts"

/** What the search of the documentation finds. `assets/docs.js` makes an index of them in the browser. */
export interface SearchRecord {
  readonly id: string
  readonly kind: "guide" | "operation"
  readonly title: string
  /** The guide or resource that it is a part of. */
  readonly context: string
  readonly text: string
  readonly method?: string
  /** Multiplies the score: whole guides and lists of resources are what most searches want. */
  readonly boost: number
}

const plain = (markdown: string) =>
  markdown
    .replaceAll(/```[\s\S]*?```/g, " ")
    .replaceAll(/<!--[^<]*?-->/g, " ")
    .replaceAll(/\]\([^)\]]*\)/g, " ")
    .replaceAll(/[`*#|[\]]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** A record for the guide, and one for each of its sections. */
const ofGuide = ({ markdown, slug, summary, title }: Guide): ReadonlyArray<SearchRecord> => {
  const [intro = "", ...sections] = markdown.split(/^(?=#{2,3} )/m)
  const url = `/docs/${slug}`
  return [
    { id: url, kind: "guide", title, context: "Guide", text: `${summary} ${plain(intro)}`, boost: 2 },
    ...sections.map((section): SearchRecord => {
      const heading = plain(section.slice(0, section.indexOf("\n")))
      return {
        id: `${url}#${anchorOf(heading)}`,
        kind: "guide",
        title: heading,
        context: title,
        text: plain(section),
        boost: 1
      }
    })
  ]
}

const namesOf = (resolve: Resolve, { body, parameters }: Operation) => [
  ...parameters.map(({ name }: Parameter) => name),
  ...(body === undefined ? [] : Object.keys(objectOf(shapeOf(resolve, body.schema).node["properties"])))
]

const ofResource = (resolve: Resolve, { operations, parent, slug, title }: Resource): ReadonlyArray<SearchRecord> =>
  operations.map((operation) => ({
    id: `/docs/reference/${slug}#${operation.anchor}`,
    kind: "operation",
    title: operation.title,
    context: title,
    method: operation.method,
    text: [
      operation.id,
      operation.path,
      operation.description,
      ...operation.permissions,
      ...namesOf(resolve, operation)
    ].join(" "),
    boost: parent !== undefined ? 0.6 : operation.anchor === "list" ? 3 : 1
  }))

export const searchRecords = (
  groups: ReadonlyArray<Group>,
  resources: ReadonlyArray<Resource>,
  resolve: Resolve
): ReadonlyArray<SearchRecord> => [
  ...resources.flatMap((resource) => ofResource(resolve, resource)),
  ...groups.flatMap(({ guides }) => guides.flatMap(ofGuide))
]
