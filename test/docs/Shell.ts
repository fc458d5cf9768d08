import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { own } from "../support/Children.ts"
import { waypost } from "../support/cli/Command.ts"
import { root } from "./Guide.ts"

/** What a block of commands did. */
export interface Ran {
  readonly output: string
  readonly errors: string
  /** The exit code of its last command, and whether any of them failed. */
  readonly exit: number
  readonly failed: boolean
  /** The statuses of its requests. */
  readonly statuses: ReadonlyArray<number>
}

export interface Shell extends AsyncDisposable {
  readonly folder: string
  readonly write: (name: string, content: string | Uint8Array) => void
  readonly link: (name: string, target: string) => void
  readonly run: (commands: string) => Promise<Ran>
}

/**
 * Requests print their status, `npx waypost` is the command line of this folder, and programs that change the machine are
 * not run. The test runs the command line in its own process, unless `IN_PROCESS` is empty: most of a command is its start.
 */
const prelude = `
exec {asked}>&1 {answered}<&0
curl() { command curl --silent --show-error --fail-with-body --max-time 240 -w '\\n%{stderr}\\n[http %{http_code}]\\n' "$@"; }
npx() {
  [ "$1" = waypost ] || { echo "npx $1 is not available" >&2; return 127; }
  shift
  [ -n "$IN_PROCESS" ] || { "$NODE" "$ROOT/bin/waypost.mjs" "$@"; return; }
  env -0 > "$SCRATCH/env"
  printf '%s\\0' "$PWD" "$@" > "$SCRATCH/words"
  echo waypost >&$asked
  read -r -u $answered code
  cat "$SCRATCH/out"
  cat "$SCRATCH/err" >&2
  return "$code"
}
node() { "$NODE" "$@"; }
# On a busy machine, a change is in the log later than the guides say.
sleep() { command sleep "$1"; echo seal >&$asked; read -r -u $answered; }
for name in apt-get aws docker npm podman ssh sudo systemctl; do
  eval "$name() { echo 'A test does not run $name; write <!-- not run: reason --> before the block' >&2; return 127; }"
done
set -E -o pipefail
trap 'failed=1' ERR
`

/** Runs the command that a shell asks for in the folder of the shell, and returns the exit code. */
const answer = async (scratch: string) => {
  const read = (name: string) => readFileSync(join(scratch, name), "utf8").split("\0").slice(0, -1)
  const [cwd = "", ...args] = read("words")
  const env = Object.fromEntries(read("env").map((one) => /^([^=]*)=([\s\S]*)$/.exec(one)!.slice(1)))
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const { code, err, out } = await waypost(args, env)
    writeFileSync(join(scratch, "out"), out)
    writeFileSync(join(scratch, "err"), err)
    return code
  } finally {
    process.chdir(before)
  }
}

/**
 * A shell in a folder that runs one block after the other and keeps its variables. With `hasProcesses` the command line is
 * a process of its own, as for users. `seal` puts all changes in the log.
 */
export const start = (
  folder: string,
  environment: Readonly<Record<string, string>>,
  { hasProcesses, seal }: { readonly hasProcesses: boolean; readonly seal: () => Promise<unknown> }
): Shell => {
  const scratch = join(folder, ".blocks")
  const home = join(folder, ".home")
  const files = join(folder, "work")
  for (const one of [scratch, home, files]) {
    mkdirSync(one, { recursive: true })
    chmodSync(one, 0o755)
  }
  const child = spawn("bash", ["--noprofile", "--norc"], {
    cwd: files,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_STATE_HOME: join(home, ".local/state"),
      LANG: "C.UTF-8",
      NODE: process.execPath,
      ROOT: root,
      SCRATCH: scratch,
      IN_PROCESS: hasProcesses ? "" : "1",
      ...environment
    },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const { stop } = own(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(prelude)
  const answers: Readonly<Record<string, () => Promise<unknown>>> = { waypost: () => answer(scratch), seal }
  let count = 0
  return {
    folder: files,
    write: (name, content) => {
      mkdirSync(dirname(join(files, name)), { recursive: true })
      writeFileSync(join(files, name), content)
    },
    link: (name, target) => {
      mkdirSync(dirname(join(files, name)), { recursive: true })
      symlinkSync(target, join(files, name))
    },
    run: async (commands) => {
      const file = join(scratch, String(++count))
      writeFileSync(file, commands)
      child.stdin.write(
        `failed=0; source '${file}' > '${file}.out' 2> '${file}.err' < /dev/null; echo "done $? $failed"\n`
      )
      let line = await lines.next()
      for (; line.done !== true && answers[line.value] !== undefined; line = await lines.next()) {
        child.stdin.write(`${String(await answers[line.value]!())}\n`)
      }
      if (line.done === true) throw new Error(`The shell ended in:\n${commands}`)
      const [, exit, failed] = line.value.split(" ")
      const errors = readFileSync(`${file}.err`, "utf8")
      return {
        output: readFileSync(`${file}.out`, "utf8"),
        errors,
        exit: Number(exit),
        failed: failed === "1",
        statuses: [...errors.matchAll(/^\[http (\d+)\]$/gm)].map(([, status]) => Number(status))
      }
    },
    [Symbol.asyncDispose]: async () => void (await stop())
  }
}
