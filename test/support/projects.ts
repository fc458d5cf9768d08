const all = "test/**/*.test.ts"

/** Tests that measure their own process, or change its environment: each file needs a process of its own. */
const isolated = [
  "test/app/Imports.test.ts",
  "test/cli/files/Memory.test.ts",
  "test/media/RendererProcess.test.ts",
  "test/storage/FileMemory.test.ts"
]

/** Tests that `npm run test:quick` leaves out: they start processes, need many rows, wait, or try many random cases. */
const slow = [
  "test/{app,browser,conformance,deploy,media,postgres,process,storage,threats,wire}/**/*.test.ts",
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
  "test/http/writes/plans/*.test.ts",
  "test/jobs/{PostSchedule,Sealing,SweeperRaces}.test.ts",
  "test/prove/*.test.ts",
  "test/repositories/quality/SharedPlaces.test.ts",
  "test/sql/{Migrations,Upgrades}.test.ts",
  "test/**/*Plans.test.ts"
]

/** Where the tests of each project are. A test in no other list shares its process with the others, so none is left out. */
export const files = {
  isolated: { include: isolated, exclude: [] },
  shared: { include: [all], exclude: isolated }
} satisfies Record<string, { readonly include: Array<string>; readonly exclude: Array<string> }>

/** The tests of `npm run test:quick`. */
export const quick = { ...files.shared, exclude: [...isolated, ...slow] }

/** What all projects and the proofs have in common. */
export const common = {
  setupFiles: ["test/support/setup.ts"],
  // They end what hangs, and no test is measured by them: on a busy machine the compiler alone takes minutes.
  testTimeout: 900_000,
  hookTimeout: 900_000
}

export const globalSetup = ["test/support/globalSetup.ts"]
export const reporters = ["default", "./test/support/summary.ts"]
