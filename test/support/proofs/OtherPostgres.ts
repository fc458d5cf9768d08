import { NodeServices } from "@effect/platform-node"
import { Effect, Option } from "effect"
import { spawn } from "node:child_process"
import { chownSync, existsSync, mkdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import postgres from "postgres"
import * as Accounts from "../../../src/postgres/Accounts.ts"
import { own } from "../Children.ts"
import * as Process from "../Process.ts"

export const binaries = "/usr/lib/postgresql/15/bin"

/** Whether this machine has the PostgreSQL 15 of Debian 12. */
export const isAvailable = existsSync(`${binaries}/initdb`)

/** The account that PostgreSQL runs as where this process is root, and how a folder for it is made. */
export const findAccount = async () => {
  const account = Option.getOrUndefined(
    await Effect.runPromise(Accounts.find(Option.none()).pipe(Effect.provide(NodeServices.layer)))
  )
  return {
    ids: account === undefined ? {} : { uid: account.uid, gid: account.gid },
    makeFolder: (path: string) => {
      mkdirSync(path, { mode: 0o700 })
      if (account !== undefined) chownSync(path, account.uid, account.gid)
    }
  }
}

/** Starts an empty PostgreSQL 15 in a new folder; one that is durable writes to the disk what is committed. */
export const start = async (folder: string, { isDurable = false } = {}) => {
  if (!isAvailable) throw new Error("This proof needs the PostgreSQL 15 of Debian 12: apt-get install postgresql-15")
  const { ids, makeFolder } = await findAccount()
  makeFolder(folder)
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    own(spawn(`${binaries}/${program}`, args, { ...ids, cwd: "/", stdio: "ignore", env: { LC_ALL: "C.UTF-8" } }))
  const made = run("initdb", "-D", folder, "-U", "waypost", "--auth=trust", "--encoding=UTF8", "--no-sync")
  if ((await made.exited) !== 0) throw new Error("PostgreSQL 15: initdb failed")
  await using stack = new AsyncDisposableStack()
  const port = await Process.freePort()
  const server = run(
    "postgres",
    "-D",
    folder,
    "-p",
    String(port),
    "-k",
    folder,
    "-h",
    "127.0.0.1",
    ...(isDurable ? [] : ["-F"])
  )
  stack.defer(async () => void (await server.stop("SIGINT")))
  const url = `postgres://waypost@127.0.0.1:${port}/postgres`
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  stack.defer(() => sql.end({ timeout: 1 }))
  for (let left = 100; ; left--) {
    const up = await sql`select 1`.then(
      () => true,
      () => false
    )
    if (up) break
    if (left === 0) throw new Error("PostgreSQL 15 did not accept connections within 10 seconds")
    await sleep(100)
  }
  const disposal = stack.move()
  return { url, sql, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}
