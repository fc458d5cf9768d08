const all = "test/**/*.test.ts"

/** Tests of functions: no database, no server, no process. */
const unit = [
  "test/domain/**/*.test.ts",
  "test/api/{GeneratorShape,OpenApi,Permissions}.test.ts",
  "test/client/*.test.ts",
  "test/docs/{Facts,Folders,Shown}.test.ts",
  "test/settings/*.test.ts",
  "test/console/*.test.ts",
  "test/cli/files/FileRows.test.ts",
  "test/cli/transfer/{ModuleNames,Rows,Upsert}.test.ts",
  "test/cli/upload/{UploadJournal,UploadNames}.test.ts",
  "test/support/*.test.ts"
]

/** Tests that measure their own process, or change its environment: each file needs a process of its own. */
const isolated = [
  "test/app/Imports.test.ts",
  "test/cli/files/Memory.test.ts",
  "test/media/RendererProcess.test.ts",
  "test/storage/FileMemory.test.ts"
]

/** Tests that kill processes and wait for them. */
const processes = ["test/{app,browser,media,postgres,process,storage}/**/*.test.ts"]

/** Tests that start services or commands, need many rows, wait, or try many random cases. */
const slow = [
  "test/{conformance,deploy,threats,wire}/**/*.test.ts",
  "test/docs/Guides.test.ts",
  "test/cli/backup/*.test.ts",
  "test/client/package/*.test.ts",
  "test/cli/files/{Columns,DryRun,DutchExcel,Refused,Spreadsheets,Values}.test.ts",
  "test/cli/{mirror,quality,sync}/*.test.ts",
  "test/cli/records/Changes.test.ts",
  "test/cli/transfer/{Interrupted,LiveExport,Planned,Posts,Products,Transfer}.test.ts",
  "test/cli/upload/{UploadFolders,UploadResume,UploadWhole}.test.ts",
  "test/http/access/{Agreement,AudienceLists,Audiences}.test.ts",
  "test/http/assets/{AssetMetaTagFilters,AssetSearchFreshness}.test.ts",
  "test/http/changes/PastRecords.test.ts",
  "test/http/files/StorageFaults.test.ts",
  "test/http/lists/{Fields,Including,Sorting}.test.ts",
  "test/http/people/Memberships.test.ts",
  "test/http/posts/PostStates.test.ts",
  "test/http/quality/*.test.ts",
  "test/http/webhooks/{Deliveries,Receivers}.test.ts",
  "test/http/writes/{BulkSequences,StaleStatistics}.test.ts",
  "test/jobs/{PostSchedule,Sealing,SweeperRaces}.test.ts",
  "test/prove/*.test.ts",
  "test/repositories/quality/SharedPlaces.test.ts",
  "test/sql/{Migrations,Upgrades}.test.ts",
  "test/**/*Plans.test.ts"
]

const ofProcesses = [...processes, ...isolated]

/** Where the tests of each project are. A test in no other list is a test of the service, so none is left out. */
export const files = {
  unit: { include: unit, exclude: [...slow, ...ofProcesses] },
  service: { include: [all], exclude: [...unit, ...slow, ...ofProcesses] },
  slow: { include: slow, exclude: ofProcesses },
  processes: { include: processes, exclude: isolated },
  isolated: { include: isolated, exclude: [] }
} satisfies Record<string, { readonly include: Array<string>; readonly exclude: Array<string> }>

/** What all projects and the proofs have in common. */
export const common = {
  setupFiles: ["test/support/setup.ts"],
  // They end what hangs, and no test is measured by them.
  testTimeout: 300_000,
  hookTimeout: 300_000
}

export const globalSetup = ["test/support/globalSetup.ts"]
export const reporters = ["default", "./test/support/summary.ts"]
