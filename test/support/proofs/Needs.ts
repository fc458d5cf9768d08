import { spawnSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isInstalled } from "../Programs.ts"
import * as OtherPostgres from "./OtherPostgres.ts"
import { program as pgBouncer } from "./PgBouncer.ts"

/** Something that proofs need and that does not come with `npm install`. */
interface Need {
  readonly what: string
  /** What has it on Debian, if a package does. */
  readonly debian?: string
  /** Test files below `test/`. */
  readonly proofs: ReadonlyArray<string>
  readonly isThere: () => boolean
}

/** Whether a command ends well within a minute. */
const succeeds = (command: string, ...args: ReadonlyArray<string>) =>
  spawnSync(command, args, { stdio: "ignore", timeout: 60_000 }).status === 0

const canMount = () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-mount-"))
  const mounted = succeeds("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder)
  if (mounted) succeeds("umount", folder)
  rmdirSync(folder)
  return mounted
}

const needs: ReadonlyArray<Need> = [
  {
    what: "right to mount a disk, which root has, in a container with CAP_SYS_ADMIN",
    proofs: ["prove/FullDatabase.prove.ts"],
    isThere: canMount
  },
  {
    what: "strace",
    debian: "strace",
    proofs: ["prove/BrokenDisk.prove.ts", "threats/Egress.prove.ts"],
    isThere: () => isInstalled("strace")
  },
  {
    what: "PgBouncer",
    debian: "pgbouncer",
    proofs: ["prove/PgBouncer.prove.ts"],
    isThere: () => pgBouncer !== undefined
  },
  {
    what: "PostgreSQL 15",
    debian: "postgresql-15",
    proofs: ["prove/Backup.prove.ts"],
    isThere: () => OtherPostgres.isThere
  },
  {
    what: "npm registry that answers",
    proofs: [
      "conformance/GeneratedClients.prove.ts",
      "conformance/OpenApiJudges.prove.ts",
      "threats/Dependencies.prove.ts",
      "threats/RegularExpressions.prove.ts"
    ],
    isThere: () => succeeds("npm", "ping")
  }
]

/** What these proofs need and is not there, in sentences; none when all is. */
export const lackOf = (proofs: ReadonlySet<string>): ReadonlyArray<string> => {
  const lacking = needs.filter((need) => need.proofs.some((proof) => proofs.has(proof)) && !need.isThere())
  const packages = lacking.flatMap(({ debian }) => debian ?? [])
  return [
    ...lacking.map(
      ({ proofs: by, what }) =>
        `There is no ${what}. Not proved without: ${by.filter((proof) => proofs.has(proof)).join(", ")}.`
    ),
    ...(packages.length === 0 ? [] : [`On Debian: apt-get install ${packages.join(" ")}`])
  ]
}
