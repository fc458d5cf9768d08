import { spawnSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Image from "../../deploy/Image.ts"
import { isInstalled } from "../Programs.ts"
import * as OtherPostgres from "./OtherPostgres.ts"
import * as Patroni from "./Patroni.ts"
import { program as pgBouncer } from "./PgBouncer.ts"
import * as Versions from "./Versions.ts"

/** A requirement of proofs that `npm install` does not satisfy. */
interface Need {
  readonly what: string
  /** The Debian package that provides it, if any. */
  readonly debian?: string
  /** Test files below `test/`. */
  readonly proofs: ReadonlyArray<string>
  readonly isAvailable: () => boolean
}

/** Whether a command succeeds within a minute. */
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
    what: "permission to mount a disk (root; in a container with CAP_SYS_ADMIN)",
    proofs: ["prove/FullDatabase.prove.ts"],
    isAvailable: canMount
  },
  {
    what: "strace",
    debian: "strace",
    proofs: ["prove/BrokenDisk.prove.ts", "threats/Egress.prove.ts"],
    isAvailable: () => isInstalled("strace")
  },
  {
    what: "PgBouncer",
    debian: "pgbouncer",
    proofs: ["prove/PgBouncer.prove.ts"],
    isAvailable: () => pgBouncer !== undefined
  },
  {
    what: "PostgreSQL 15",
    debian: "postgresql-15",
    proofs: ["prove/Backup.prove.ts"],
    isAvailable: () => OtherPostgres.isAvailable
  },
  {
    what: "Patroni, etcd, HAProxy and PostgreSQL 15",
    debian: "patroni python3-etcd etcd-server haproxy postgresql-15",
    proofs: ["prove/Failover.prove.ts"],
    isAvailable: Patroni.isAvailable
  },
  {
    what: "root, debootstrap, Buildah, Podman with runc and catatonit, and PostgreSQL 15",
    debian: "debootstrap buildah podman runc catatonit postgresql-15",
    proofs: ["deploy/Image.prove.ts"],
    isAvailable: () => process.getuid?.() === 0 && Image.isAvailable() && OtherPostgres.isAvailable
  },
  {
    what: "the commit of the latest release, in the history of this checkout",
    proofs: ["prove/Upgrade.prove.ts"],
    isAvailable: Versions.isAvailable
  },
  {
    what: "promtool",
    debian: "prometheus",
    proofs: ["deploy/Alerts.prove.ts"],
    isAvailable: () => isInstalled("promtool")
  },
  {
    what: "nginx, Caddy and openssl",
    debian: "nginx-light caddy openssl",
    proofs: ["deploy/Proxies.prove.ts"],
    isAvailable: () => ["nginx", "caddy", "openssl"].every(isInstalled)
  },
  {
    what: "nginx, openssl and faketime",
    debian: "nginx-light openssl faketime",
    proofs: ["deploy/Cdn.prove.ts"],
    isAvailable: () => ["nginx", "openssl", "faketime"].every(isInstalled)
  },
  {
    what: "reachable npm registry",
    proofs: [
      "conformance/GeneratedClients.prove.ts",
      "conformance/OpenApiValidators.prove.ts",
      "deploy/Image.prove.ts",
      "deploy/Kubernetes.prove.ts",
      "threats/Dependencies.prove.ts",
      "threats/RegularExpressions.prove.ts"
    ],
    isAvailable: () => succeeds("npm", "ping")
  }
]

/** The requirements of these proofs that are missing, as sentences. */
export const lackOf = (proofs: ReadonlySet<string>): ReadonlyArray<string> => {
  const lacking = needs.filter((need) => need.proofs.some((proof) => proofs.has(proof)) && !need.isAvailable())
  const packages = lacking.flatMap(({ debian }) => debian ?? [])
  return [
    ...lacking.map(
      ({ proofs: by, what }) =>
        `Missing: ${what}. It is required by: ${by.filter((proof) => proofs.has(proof)).join(", ")}.`
    ),
    ...(packages.length === 0 ? [] : [`On Debian: apt-get install ${packages.join(" ")}`])
  ]
}
