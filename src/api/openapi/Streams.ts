import type { Components } from "./JsonSchema.ts"
import type { Content, Placed } from "./Operation.ts"

const mediaType = "text/event-stream"

interface Answering {
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

/** Whether an operation answers with server-sent events. */
export const isStream = ({ responses }: Answering): boolean =>
  Object.values(responses).some(({ content }) => content !== undefined && mediaType in content)

/** The content of a response; generators know a stream as text only. */
export const contentOf = (content: Content): Content =>
  mediaType in content
    ? {
        [mediaType]: {
          schema: {
            type: "string",
            description: "Server-sent events; `data` is an `Event` as JSON.",
            examples: ['id: AbC3\nevent: location.updated\ndata: {"id":"0192…","type":"location.updated"}\n\n']
          }
        }
      }
    : content

/** Without the components that only a stream had; those of errors are shared by all operations. */
export const withoutStreamed = (components: Components, operations: ReadonlyArray<Placed>): Components => {
  const text = JSON.stringify([components, operations])
  const isUsed = (name: string) => name.endsWith("ErrorEncoded") || text.includes(`"#/components/schemas/${name}"`)
  return Object.fromEntries(Object.entries(components).filter(([name]) => isUsed(name)))
}
