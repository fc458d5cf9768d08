import type { Published } from "./AccessFacts.ts"

/** The dates of each type: the first and the last that it is published. */
const members = { product: ["visibleFrom", "visibleUntil"], post: ["publishAt", "expireAt"] } as const

type Type = keyof typeof members

/** What to change where the status cannot be set to published. */
const otherChanges: Readonly<Record<Type, Readonly<Record<string, string>>>> = {
  product: { archived: "set it to draft, and then to published" },
  post: {
    draft: "set it to scheduled, with a publishAt that is not in the future",
    archived: "it cannot be published again; create another post"
  }
}

/** What is said of the status, and what to change. */
export const stateText = (type: Type, { isPublished, status }: Published) =>
  `has the status ${status}${isPublished ? "" : `; ${otherChanges[type][status] ?? "set it to published"}`}`

/** What is said of the dates, and the member that decides. */
export const datesText = (type: Type, { from, isOver, isWithinDates, until }: Published) => {
  const [begin, end] = members[type]
  if (isWithinDates) return { text: "is within its dates", path: isOver ? end : begin }
  if (isOver) return { text: `ended on ${until}; set ${end} to a later time, or to null`, path: end }
  // A scheduled post needs a publishAt.
  const otherwise = type === "post" ? "" : ", or to null"
  return { text: `begins on ${from}; set ${begin} to an earlier time${otherwise}`, path: begin }
}
