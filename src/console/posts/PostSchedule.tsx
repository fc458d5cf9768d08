import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { Json } from "../../domain/schema/Json.ts"
import { call, labelOf, type Page, selected, textOf, uuidOf } from "../data/Calls.ts"
import * as Filters from "../data/Filters.ts"
import { resourceNamed } from "../definition/Resources.ts"
import { useSession } from "../session/Session.tsx"
import { Empty } from "../shell/Failure.tsx"
import { Loaded } from "../shell/Loaded.tsx"
import { useFormats, useWords } from "../words/Words.tsx"

/** How many posts that are published, and how many that are archived, are read at most. */
const maxPosts = 500

const posts = resourceNamed("posts")

const fields = selected(["publishAt", "expireAt", posts.label])

interface Planned {
  readonly at: string
  readonly post: Json
  readonly isEnd: boolean
}

interface Plan {
  /** In order of time. */
  readonly planned: ReadonlyArray<Planned>
  /** Whether more is planned than was read. */
  readonly isPart: boolean
}

/** What happens to posts by itself from now on. */
const usePlanned = () => {
  const { client } = useSession()
  const [now] = useState(() => new Date().toISOString())
  return useQuery({
    queryKey: ["schedule", now],
    queryFn: async ({ signal }): Promise<Plan> => {
      const read = async (
        member: "publishAt" | "expireAt",
        status: ReadonlyArray<string>,
        order: Readonly<Record<string, string>>
      ) => {
        const filter = Filters.print([
          { field: "status", operator: "in", values: status },
          { field: member, operator: "gte", values: [now] }
        ])
        const query = { filter, limit: maxPosts, after: "", total: false, fields, ...order }
        const { data, pagination } = await call<Page>(client, posts.actions.list!, query, { signal })
        return {
          planned: data.map((post) => ({ at: textOf(post[member]), post, isEnd: member === "expireAt" })),
          isPart: pagination.next !== undefined
        }
      }
      const all = await Promise.all([
        read("publishAt", ["scheduled"], { sortBy: "publishAt", sortOrder: "asc" }),
        // The service does not sort posts by when they expire.
        read("expireAt", ["scheduled", "published"], {})
      ])
      return {
        planned: all.flatMap(({ planned }) => planned).toSorted((one, other) => (one.at < other.at ? -1 : 1)),
        isPart: all.some(({ isPart }) => isPart)
      }
    }
  })
}

/** The posts that are published or archived from now on. */
const PostSchedule = () => {
  const words = useWords()
  const formats = useFormats()
  const plan = usePlanned()
  return (
    <Loaded query={plan}>
      {({ isPart, planned }) =>
        planned.length === 0 ? (
          <Empty title={words.noSchedule} />
        ) : (
          <>
            {isPart ? <p className="hint">{words.partOfSchedule}</p> : null}
            <table>
              <tbody>
                {planned.map(({ at, isEnd, post }) => (
                  <tr key={`${uuidOf(post)} ${String(isEnd)}`}>
                    <td>{formats.time(at)}</td>
                    <th scope="row">
                      <Link href={`/posts/${uuidOf(post)}`}>{labelOf(post, posts.label)}</Link>
                    </th>
                    <td>{isEnd ? words.isArchived : words.isPublished}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )
      }
    </Loaded>
  )
}

export default PostSchedule
