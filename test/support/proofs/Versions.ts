import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** A copy of the service; disposing of it removes the copy. */
export interface Version extends Disposable {
  readonly folder: string
  readonly main: string
}

const root = fileURLToPath(new URL("../../..", import.meta.url))

const git = (...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: root, maxBuffer: 1024 ** 3, stdio: ["ignore", "pipe", "pipe"] })

/** The commit of the latest release, which is the last that `npm run release` wrote; `UPGRADE_FROM` names another one. */
const commitOfRelease = () => {
  const name =
    process.env["UPGRADE_FROM"] ?? git("log", "-1", "--format=%H", "--", "migrations.released.json").toString()
  return git("rev-parse", "--verify", name.trim()).toString().trim()
}

/** Whether this checkout has the history that the latest release is read from. */
export const isAvailable = () => {
  try {
    return commitOfRelease() !== ""
  } catch {
    return false
  }
}

const empty = (): Version => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-version-"))
  return {
    folder,
    main: join(folder, "src/main.ts"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true })
  }
}

/** Unpacks the latest release with its packages. */
export const released = (): Version & { readonly commit: string } => {
  const version = empty()
  const commit = commitOfRelease()
  execFileSync("tar", ["-x"], { cwd: version.folder, input: git("archive", commit) })
  const lock = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8")
  if (lock(version.folder) === lock(root)) symlinkSync(join(root, "node_modules"), join(version.folder, "node_modules"))
  else
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: version.folder, stdio: "pipe" })
  return { ...version, commit: commit.slice(0, 7) }
}

/** Changes every table as an upgrade may. */
const migration = `import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql\`select oid::regclass::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition\`
  for (const { name } of tables)
    yield* sql.unsafe(\`alter table \${name} add column planted_text text, add column planted_number int not null default 1\`)
  yield* sql\`alter table groups alter column name drop not null\`
  yield* sql\`create index planted_index on locations (planted_text, name)\`
  yield* sql\`create table planted (uuid uuid primary key)\`
})
`

/** Copies this version, with one more migration. */
export const next = (): Version => {
  const version = empty()
  for (const folder of ["src", "bin"]) cpSync(join(root, folder), join(version.folder, folder), { recursive: true })
  for (const name of ["docs", "node_modules", "package.json"]) symlinkSync(join(root, name), join(version.folder, name))
  writeFileSync(join(version.folder, "src/sql/migrations/9999_planted.ts"), migration)
  return version
}
