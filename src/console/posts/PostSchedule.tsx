import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import definition from "virtual:definition"
import { call, type Json, labelOf, type Page, selected, textOf, uuidOf } from "../data/Calls.ts"
import * as Filters from "../data/Filters.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { Empty } from "../shell/Failure.tsx"
import { Loaded } from "../shell/Loaded.tsx"
import { useFormats, useWords } from "../words/Words.tsx"

const most = 500

const posts: Resource = definition.resources.find(({ name }) => name === "posts")!

const fields = selected(["publishAt", "expireAt", posts.label])

interface Planned {
  readonly at: string
  readonly post: Json
  readonly isEnd: boolean
}

/** What happens to posts by itself from now on, in order of time. */
const usePlanned = () => {
  const { client } = useSession()
  const [now] = useState(() => new Date().toISOString())
  return useQuery({
    queryKey: ["schedule", now],
    queryFn: async ({ signal }): Promise<ReadonlyArray<Planned>> => {
      const read = async (member: "publishAt" | "expireAt", status: ReadonlyArray<string>) => {
        const filter = Filters.print([
          { field: "status", operator: "in", values: status },
          { field: member, operator: "gte", values: [now] }
        ])
        const query = { filter, limit: most, total: false, fields }
        const { data } = await call<Page>(client, posts.actions.list!, query, { signal })
        return data.map((post) => ({ at: textOf(post[member]), post, isEnd: member === "expireAt" }))
      }
      const all = await Promise.all([read("publishAt", ["scheduled"]), read("expireAt", ["scheduled", "published"])])
      return all.flat().toSorted((one, other) => (one.at < other.at ? -1 : 1))
    }
  })
}

/** The posts that are published or archived from now on. */
const PostSchedule = () => {
  const words = useWords()
  const formats = useFormats()
  const planned = usePlanned()
  return (
    <Loaded query={planned}>
      {(data) =>
        data.length === 0 ? (
          <Empty title={words.noSchedule} />
        ) : (
          <table>
            <tbody>
              {data.map(({ at, isEnd, post }) => (
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
        )
      }
    </Loaded>
  )
}

export default PostSchedule
