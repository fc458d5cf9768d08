import { spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Process from "../Process.ts"
import { own } from "../Children.ts"
import type { Installation } from "../Nodes.ts"

/** Debian installs it outside the search path of most users. */
export const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].find(existsSync)

/** PgBouncer in transaction mode, in front of the PostgreSQL of an installation. */
export const start = async ({ socket, username }: Pick<Installation, "socket" | "username">) => {
  if (program === undefined) throw new Error("This proof needs PgBouncer: apt-get install pgbouncer")
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), "waypost-pgbouncer-"))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { gid, uid } = statSync(socket)
  const port = await Process.freePort()
  const server = `host=${dirname(socket)} port=${socket.split(".").at(-1)} user=${username}`
  const file = join(folder, "pgbouncer.ini")
  const lines = [
    "[databases]",
    `* = ${server}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 20",
    "max_client_conn = 500"
  ]
  writeFileSync(file, `${lines.join("\n")}\n`)
  // Only the owner can open the socket, and PgBouncer does not run as root.
  chmodSync(folder, 0o755)
  chownSync(folder, uid, gid)
  const identity = process.getuid?.() === 0 ? { uid, gid } : {}
  const child = spawn(program, [file], { ...identity, cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  child.stderr.on("data", (chunk) => (output += String(chunk)))
  const { stop } = own(child)
  stack.defer(async () => void (await stop()))
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true))
      socket.on("connect", () => socket.destroy()).on("error", () => resolve(false))
    })
  for (let tries = 0; !(await listens()); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`PgBouncer did not start listening:\n${output}`)
    await sleep(50)
  }
  const disposal = stack.move()
  return {
    url: (database: string) => `postgres://${username}@127.0.0.1:${port}/${database}`,
    output: () => output,
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}
