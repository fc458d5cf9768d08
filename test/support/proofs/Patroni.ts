import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { type Child, own } from "../Children.ts"
import * as Process from "../Process.ts"
import { isInstalled } from "../Programs.ts"
import { until } from "../Until.ts"
import * as OtherPostgres from "./OtherPostgres.ts"

/** Whether this machine has Patroni with its client of etcd, etcd, HAProxy and PostgreSQL 15. */
export const isAvailable = () => ["patroni", "etcd", "haproxy"].every(isInstalled) && OtherPostgres.isAvailable

/** A PostgreSQL server that Patroni manages. */
export interface Member {
  readonly name: string
  readonly port: number
  readonly url: string
  /** Kills Patroni, PostgreSQL and all its processes at once, as a loss of power does. */
  readonly kill: () => Promise<void>
  /** Starts Patroni, which starts PostgreSQL. */
  readonly start: () => void
  /** Stops Patroni, PostgreSQL and all its processes where they are; returns a function that lets them go on. */
  readonly freeze: () => () => void
  /** Holds back everything that Patroni and etcd send each other; returns a function that ends this. */
  readonly cutOff: () => () => void
  /** The log of Patroni and PostgreSQL. */
  readonly log: () => string
}

/** Three PostgreSQL servers with Patroni in synchronous mode, etcd, and HAProxy in front of the leader. */
export interface Cluster extends AsyncDisposable {
  readonly members: ReadonlyArray<Member>
  /** The database of the service on the leader, whichever member that is. */
  readonly url: string
  /** The member that is the primary; undefined while there is none, or two. */
  readonly leader: () => Promise<Member | undefined>
  /** Waits until a leader has two synchronous standbys. */
  readonly untilWhole: () => Promise<Member>
}

const address = "127.0.0.1"
const database = "waypost"
const username = "waypost"

/** A port that forwards connections to another until it is closed; a closed one answers nothing, as a lost network does. */
const gateTo = async (port: number) => {
  const sockets = new Set<Socket>()
  let isClosed = false
  const server = createServer((incoming) => {
    const outgoing = connect(port, address)
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming]
    ] as const) {
      sockets.add(from)
      from.on("data", (chunk) => {
        if (!isClosed) to.write(chunk)
      })
      from.on("error", () => undefined)
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, address)
  await once(server, "listening")
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    endAll,
    close: () => {
      isClosed = true
      return () => {
        isClosed = false
        endAll()
      }
    },
    [Symbol.dispose]: () => {
      endAll()
      server.close()
    }
  }
}

/** The processes of a PostgreSQL server. */
const processesIn = (data: string) => {
  const file = join(data, "postmaster.pid")
  if (!existsSync(file)) return []
  const postmaster = Number(readFileSync(file, "utf8").split("\n")[0])
  if (!existsSync(`/proc/${postmaster}`)) return []
  const backends = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" })
  return [
    postmaster,
    ...backends
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(Number)
  ]
}

const signalAll = (pids: ReadonlyArray<number>, name: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has exited.
    }
  }
}

/** Limits of Patroni in seconds: the shortest that it accepts for `ttl`, and retries that fit into it. */
const limits = { ttl: 20, loop_wait: 2, retry_timeout: 3 }

export const start = async (): Promise<Cluster> => {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), "waypost-patroni-"))
  stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 6, retryDelay: 200 }))
  const { ids, makeFolder } = await OtherPostgres.findAccount()
  const folderFor = (name: string) => {
    const path = join(folder, name)
    makeFolder(path)
    return path
  }
  chmodSync(folder, 0o755)
  /** Starts a program that ends with this process; returns it with its output. */
  const run = (program: string, args: ReadonlyArray<string>, cwd: string) => {
    const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", HOME: cwd }
    const child = spawn(program, args, { ...ids, cwd, env, stdio: ["ignore", "pipe", "pipe"] })
    const output: Array<string> = []
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)))
    return { pid: child.pid!, output, ...own(child) }
  }
  const stopLater = (child: Child) => stack.defer(async () => void (await child.stop()))

  const [clients, peers, front] = [await Process.freePort(), await Process.freePort(), await Process.freePort()]
  const etcd = folderFor("etcd")
  const at = (port: number) => `http://${address}:${port}`
  stopLater(
    run(
      "etcd",
      Object.entries({
        name: "etcd",
        "data-dir": join(etcd, "data"),
        "initial-cluster": `etcd=${at(peers)}`,
        "listen-client-urls": at(clients),
        "advertise-client-urls": at(clients),
        "listen-peer-urls": at(peers),
        "initial-advertise-peer-urls": at(peers)
      }).map(([name, value]) => `--${name}=${value}`),
      etcd
    )
  )
  // Patroni ends when etcd has not yet decided on the version of its cluster.
  await until("etcd has a version", async () => {
    const answer = await fetch(`${at(clients)}/version`).catch(() => undefined)
    const versions = (await answer?.json()) as { readonly etcdcluster: string } | undefined
    return versions !== undefined && versions.etcdcluster !== "not_decided"
  })

  const made = async (name: string) => {
    const gate = stack.use(await gateTo(clients))
    const own = folderFor(name)
    const data = join(own, "data")
    const [port, api] = [await Process.freePort(), await Process.freePort()]
    const file = join(own, "patroni.json")
    const settings = {
      scope: "waypost",
      name,
      restapi: { listen: `${address}:${api}`, connect_address: `${address}:${api}` },
      etcd3: { hosts: [`${address}:${gate.port}`], use_proxies: true },
      bootstrap: {
        dcs: {
          ...limits,
          // Both standbys confirm a commit, so that neither shows what a failover takes back.
          synchronous_mode: true,
          synchronous_node_count: 2,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 100, wal_keep_size: "512MB", hot_standby_feedback: "on" }
          }
        },
        initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }]
      },
      postgresql: {
        listen: `${address}:${port}`,
        connect_address: `${address}:${port}`,
        data_dir: data,
        bin_dir: OtherPostgres.binaries,
        pgpass: join(own, "pgpass"),
        // A copy of the leader begins at once instead of with the next checkpoint.
        basebackup: [{ checkpoint: "fast" }],
        remove_data_directory_on_diverged_timelines: true,
        authentication: { superuser: { username }, replication: { username: "replicator" } },
        pg_hba: [`host all all ${address}/32 trust`, `host replication all ${address}/32 trust`],
        parameters: { unix_socket_directories: "." }
      }
    }
    writeFileSync(file, JSON.stringify(settings))
    let patroni: ReturnType<typeof run> | undefined
    let before: ReadonlyArray<string> = []
    const begin = () => {
      before = [...before, ...(patroni?.output ?? [])]
      patroni = run("patroni", [file], own)
    }
    const everything = () => [...(patroni === undefined ? [] : [patroni.pid]), ...processesIn(data)]
    stack.defer(async () => {
      const pids = everything()
      signalAll(pids, "SIGCONT")
      signalAll(pids, "SIGKILL")
      await patroni?.exited
    })
    return {
      name,
      port,
      api,
      url: `postgres://${username}@${address}:${port}/${database}`,
      start: begin,
      kill: async () => {
        signalAll(everything(), "SIGKILL")
        await patroni?.exited
      },
      freeze: () => {
        const pids = everything()
        signalAll(pids, "SIGSTOP")
        return () => signalAll(pids, "SIGCONT")
      },
      cutOff: gate.close,
      reconnect: gate.endAll,
      log: () => [...before, ...(patroni?.output ?? [])].join("")
    }
  }
  const members = [await made("member-1"), await made("member-2"), await made("member-3")]
  for (const member of members) member.start()

  /** What Patroni says about a member. */
  const stateOf = async ({ api }: (typeof members)[number], path: string) => {
    try {
      return await fetch(`${at(api)}/${path}`, { signal: AbortSignal.timeout(1000) })
    } catch {
      return undefined
    }
  }
  const inRole = async (role: string) => {
    const answers = await Promise.all(members.map((member) => stateOf(member, role)))
    return members.filter((_, index) => answers[index]?.status === 200)
  }
  const leader = async () => {
    const [first, ...others] = await inRole("primary")
    return others.length === 0 ? first : undefined
  }
  const untilWhole = () =>
    until(
      "a leader has two synchronous standbys",
      async () => {
        const found = await leader()
        if (found === undefined) return false
        if ((await inRole("synchronous")).length === 2) return found
        // Patroni 3.0 may keep an old copy of its keys, which it reads anew over another connection (patroni#2783).
        if (found.log().slice(-3000).includes("key updated by someone else")) {
          found.reconnect()
          await sleep(3000)
        }
        return false
      },
      90
    ).catch((error: unknown) => {
      const logs = members.map(({ log, name }) => `${name}:\n${log().slice(-3000)}`).join("\n")
      throw new Error(`${String(error)}\n${logs}`)
    })

  const proxy = folderFor("haproxy")
  const file = join(proxy, "haproxy.cfg")
  const lines = [
    "defaults",
    "  mode tcp",
    "  timeout connect 1s",
    "  timeout check 1s",
    "  timeout client 1h",
    "  timeout server 1h",
    "listen primary",
    `  bind ${address}:${front}`,
    "  option httpchk GET /primary",
    "  http-check expect status 200",
    "  default-server inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions",
    ...members.map(({ api, name, port }) => `  server ${name} ${address}:${port} check port ${api}`)
  ]
  writeFileSync(file, `${lines.join("\n")}\n`)
  const first = await untilWhole()
  const sql = postgres(new URL("/postgres", first.url).href, { max: 1 })
  await sql.unsafe(`create database ${database}`)
  await sql.end()
  stopLater(run("haproxy", ["-db", "-f", file], proxy))

  const disposal = stack.move()
  return {
    members,
    url: `postgres://${username}@${address}:${front}/${database}`,
    leader,
    untilWhole,
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}
