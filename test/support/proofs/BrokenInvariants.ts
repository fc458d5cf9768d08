import type { TestContext } from "vitest"
import { join } from "node:path"
import postgres from "postgres"
import { report } from "./Figures.ts"
import { count, type Query, violations } from "./Invariants.ts"
import { socketOf } from "./Running.ts"

type Context = Pick<TestContext, "annotate">

/** The violations of the invariants, which should be none; reports how many invariants were checked. */
export const brokenOf = async (context: Context, query: Query, objects?: string) => {
  const broken = await violations(query, objects)
  await report(context, { [`of ${await count(query)} invariants broken`]: broken.length })
  return broken
}

/** The same for a service with an embedded PostgreSQL in a data folder, including the bytes of files. */
export const brokenIn = async (context: Context, folder: string) => {
  const sql = postgres({ ...(await socketOf(folder)), max: 1, onnotice: () => undefined })
  const query: Query = (statement) => sql.unsafe(statement)
  return brokenOf(context, query, join(folder, "files", "objects")).finally(() => sql.end({ timeout: 1 }))
}
