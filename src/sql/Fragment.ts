import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Statement } from "effect/sql"

/** SQL with the values in it: a part of a statement. */
export type Fragment = Statement.Fragment

/** What a client's `sql` composes statements of, without a client. */
interface Composer extends Pick<Statement.Constructor, "and" | "csv" | "join" | "literal" | "or"> {
  (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Fragment
}

/**
 * Composes fragments. Everything in a template that is not a fragment is a value, which becomes a parameter of the
 * statement; PostgreSQL then needs its type, as in `${name}::text`.
 */
export const sql: Composer = Statement.make(
  Effect.die("A fragment cannot be run"),
  PgClient.makeCompiler(),
  [],
  undefined
)

/** Joins the adjacent text of a fragment, so that a part of many statements compiles faster. */
export const compact = ({ segments }: Fragment): Fragment => {
  const joined: Array<Statement.Segment> = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (segment._tag === "Literal" && last?._tag === "Literal") {
      joined.splice(-1, 1, Statement.literal(last.value + segment.value))
    } else joined.push(segment)
  }
  return Statement.fragment(joined)
}
