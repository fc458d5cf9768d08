import type { TestContext } from "vitest"
import { join } from "node:path"
import postgres from "postgres"
import { report } from "./Figures.ts"
import { count, type Query, violations } from "./Invariants.ts"
import { socketOf } from "./Running.ts"

type Context = Pick<TestContext, "annotate">

/** Whatever must always be true and is not, which there should be nothing of; tells of how many things it was looked for. */
export const brokenOf = async (context: Context, query: Query, objects?: string) => {
  const broken = await violations(query, objects)
  await report(context, { [`of ${await count(query)} invariants broken`]: broken.length })
  return broken
}

/** The same of a service that runs on a data folder with a PostgreSQL of its own, bytes of files included. */
export const brokenIn = async (context: Context, folder: string) => {
  const sql = postgres({ ...(await socketOf(folder)), max: 1, onnotice: () => undefined })
  const query: Query = (statement) => sql.unsafe(statement)
  return brokenOf(context, query, join(folder, "files", "objects")).finally(() => sql.end({ timeout: 1 }))
}
