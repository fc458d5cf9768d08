import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { waypost } from "../support/cli/Command.ts"
import { migratedFolder } from "../support/Process.ts"
import { start } from "../support/Service.ts"

const root = join(import.meta.dirname, "../..")
const read = (file: string) => readFileSync(join(root, file), "utf8")

/** What a script prints. */
const printed = (script: string) =>
  spawnSync("/bin/bash", ["-c", script], { cwd: root, encoding: "utf8" }).stdout.trim()

/** The settings below `[Service]` of a unit, in order. */
const settingsOf = (unit: string) => {
  const text = read(`deploy/${unit}`)
  return [.../\[Service\]\n([^[]*)/.exec(text)![1]!.matchAll(/^(\w+)=(.*)$/gm)].map(
    ([, name, value]) => [name!, value!] as const
  )
}

/** What only a service that goes on running has, and what only a command has that writes backups. */
const own =
  /^(?:Type|ExecStart|ExecStartPost|Restart|RestartSec|KillMode|TimeoutStopSec|OOMPolicy|LimitNOFILE|ReadWritePaths)$/

const backup = settingsOf("waypost-backup.service")

/** The variables that a setting `Environment` has. */
const variablesOf = (text: string) => text.split(" ").map((word) => word.split("=", 2) as [string, string])

/** The options of `systemd-run` in the guide to restores, and the command. */
const restore = () => {
  const [, options = "", command = ""] =
    /systemd-run ([^]*?)(node bin\/waypost\.mjs restore \S+)/.exec(read("docs/backup-and-restore.md")) ?? []
  const properties = [...options.matchAll(/-p (\w+)=('[^']*'|\S+)/g)].map(
    ([, name, value]) => [name!, value!.replaceAll("'", "")] as const
  )
  return { user: /--uid=(\S+)/.exec(options)?.[1], properties: Object.fromEntries(properties), command }
}

/** Runs a command of a unit or of a guide. */
const run = (script: string, env: Readonly<Record<string, string>>) => {
  const ran = spawnSync("/bin/sh", ["-c", script], { cwd: root, env, encoding: "utf8" })
  assert.strictEqual(ran.status, 0, ran.stdout + ran.stderr)
  return ran
}

describe("waypost-backup.service", () => {
  it("waypost-backup.service has the user, the settings and the limits of the service", () => {
    const common = (settings: ReadonlyArray<readonly [string, string]>) => settings.filter(([name]) => !own.test(name))
    assert.isAbove(common(backup).length, 20)
    assert.deepStrictEqual(common(backup), common(settingsOf("waypost@.service")))
  })

  it("backs up the installation of the service, and keeps the latest 14 backups, from which the guide restores", async () => {
    await using service = await start()
    const backups = mkdtempSync(join(tmpdir(), "waypost-backups-"))
    const before = Array.from({ length: 15 }, (_, index) => `2026-01-${10 + index}T031500`)
    for (const name of [...before, "before-the-move"]) mkdirSync(join(backups, name))
    const moved = (value: string) =>
      value
        .replaceAll("/var/backups/waypost", backups)
        .replaceAll("/var/lib/waypost", service.folder)
        .replaceAll("/opt/waypost", root)
    const env = Object.fromEntries(
      backup.flatMap(([name, value]) => (name === "Environment" ? variablesOf(moved(value)) : []))
    )
    // The embedded server of the test has its socket elsewhere.
    const machine = { TMPDIR: tmpdir(), PATH: [dirname(process.execPath), env["PATH"]].join(delimiter) }
    for (const name of ["ExecStart", "ExecStartPost"]) {
      const [, command] = backup.find(([known]) => known === name)!
      const script = /^\/bin\/sh -c '(.*)'$/.exec(moved(command))![1]!.replaceAll("%%", "%").replaceAll("$$", "$")
      run(script, { ...env, ...machine })
    }
    const kept = readdirSync(backups).toSorted()
    const latest = kept.find((name) => name !== "before-the-move" && !before.includes(name))
    assert.deepStrictEqual(kept, [...before.slice(2), latest!, "before-the-move"])
    const checked = await waypost(["restore", "--check", join(backups, latest!)])
    assert.include(checked.out, "Complete: ")
    const { command, properties } = restore()
    const target = migratedFolder()
    const variables = variablesOf(properties["Environment"]!.replaceAll("/var/lib/waypost", target.folder))
    const { stdout } = run(command.replace(/\S+$/, join(backups, latest!)), {
      ...Object.fromEntries(variables),
      ...machine
    })
    target.remove()
    rmSync(backups, { recursive: true })
    assert.include(stdout, "Restored: ")
  })
})

describe("the guide to restores", () => {
  it("restores as the user and with the settings of the service, from its backups", () => {
    const service = settingsOf("waypost@.service")
    const value = (name: string, settings = service) => settings.find(([known]) => known === name)?.[1]
    const { command, properties, user } = restore()
    assert.strictEqual(user, value("User"))
    assert.strictEqual(properties["WorkingDirectory"], value("WorkingDirectory"))
    assert.strictEqual(properties["EnvironmentFile"], value("EnvironmentFile"))
    const known = new Map(service.flatMap(([name, text]) => (name === "Environment" ? variablesOf(text) : [])))
    for (const [name, text] of variablesOf(properties["Environment"]!)) {
      if (name === "PATH") assert.strictEqual(text.split(":")[0], known.get(name)!.split(":")[0])
      else assert.strictEqual(text, known.get(name), name)
    }
    assert.include(command, ` ${value("ReadWritePaths", backup)}/`)
  })

  it("the guide to containers mounts the folder of backups with Docker Compose, because podman-compose ignores such a mount", () => {
    const mounts = read("docs/container.md")
      .split("\n")
      .filter((line) => line.includes(" -v /var/backups/waypost:"))
    assert.lengthOf(mounts, 2)
    for (const line of mounts) assert.match(line, /^docker compose -f deploy\/compose\.yaml run /)
  })

  it("names services of the Compose file, and the user of the image, who writes the backups", () => {
    const guide = read("docs/container.md")
    const services = [
      ...read("deploy/compose.yaml")
        .split("\nservices:\n")[1]!
        .matchAll(/^ {2}([\w.-]+):/gm)
    ].map(([, name]) => name!)
    const words = [...guide.matchAll(/docker compose -f deploy\/compose\.yaml (.+)$/gm)].flatMap(([, command = ""]) =>
      command.split(" ")
    )
    const named = words.filter((word) => /^(?:waypost-\d|postgres|files\..+)$/.test(word))
    assert.isAbove(named.length, 5)
    assert.includeMembers(services, named)
    const [, user] = /useradd --uid (\d+)/.exec(read("deploy/Containerfile"))!
    assert.match(guide, new RegExp(`install -d -o ${user} -g ${user} -m 0700 /var/backups/waypost`))
  })
})

describe("the guide to the installation", () => {
  it("waits for the first key, and no longer once the service was started again", () => {
    const [line = ""] = /^until .+$/m.exec(read("docs/deploying.md")) ?? []
    const waiting = (restarts: number, key: string) =>
      printed(`systemctl() { [[ "$1" == show ]] && echo ${restarts}; }; sleep() { echo waits; exit; }
        grep() { command grep -s . ${key}; }; ${line}`)
    assert.strictEqual(waiting(1, "/none"), "")
    assert.strictEqual(waiting(0, "/none"), "waits")
    assert.strictEqual(waiting(0, "<(echo wp_key)"), "wp_key")
  })
})

describe("the guides to installations", () => {
  it("the guides to installations revoke the first key, which logs keep, once there is another one", () => {
    const blocks = ["docs/deploying.md", "docs/container.md"].flatMap((guide) =>
      [...read(guide).matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands!)
    )
    // With systemd, a container, Compose and Kubernetes.
    const creating = blocks.filter((commands) => commands.includes(" keys create --name Administrator --preset full\n"))
    assert.lengthOf(creating, 4)
    for (const commands of creating) assert.match(commands, /keys create [^]+keys list [^]+keys revoke wp_/)
  })
})

describe("the guide to updates", () => {
  const [, update = ""] = read("docs/deploying.md").split("\n## Update\n")

  it("installs every unit again", () => {
    const [, names = ""] = /^install -m 0644 (.+) \/etc\/systemd\/system\//m.exec(update) ?? []
    const units = readdirSync(join(root, "deploy")).filter((name) => /\.(?:service|timer)$/.test(name))
    assert.sameMembers(
      printed(`echo ${names}`).split(" "),
      units.map((name) => `deploy/${name}`)
    )
  })

  it("the guide to updates restarts no instance when a step before fails", () => {
    const [, commands = ""] = /```sh\n(cd [^]+?)```/.exec(update)!
    const restarts = (failing: string) =>
      printed(`for name in cd git install curl; do eval "$name() { [[ $name != '${failing}' ]]; }"; done
        npm() { [[ "npm $1" != '${failing}' ]]; }
        systemctl() { case $1 in list-units) echo 'waypost@3000.service';; restart) echo "$2";; esac; }
        ${commands}`)
    assert.strictEqual(restarts("none"), "waypost@3000")
    for (const failing of ["cd", "git", "npm ci", "npm run", "install"])
      assert.strictEqual(restarts(failing), "", failing)
  })

  it("restarts the instances that run, and no others", () => {
    const [, ports = ""] = /^for port in (\$\(.+\)); do$/m.exec(update) ?? []
    const unit = (port: number, state: string) => `waypost@${port}.service loaded ${state} Waypost on port ${port}`
    const systemctl = `systemctl() {
      printf '%s\\n' '${unit(3000, "active running")}' '${unit(3002, "active running")}'
      [[ "$*" == *--state=active* ]] || echo '${unit(3001, "failed failed")}'
    }`
    assert.strictEqual(printed(`${systemctl}; echo ${ports}`), "3000 3002")
  })
})
