import { assert, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { checkStorage } from "../../src/jobs/StorageCheck.ts"
import { upload } from "../support/requests/UploadRequests.ts"
import { attach, bytes, folderOf, services } from "../support/Sweeping.ts"

const logged = Effect.gen(function* () {
  const lines: Array<string> = []
  const collect = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
  yield* Effect.provide(checkStorage("/files"), Logger.layer([collect]))
  return lines
})

layer(services, { excludeTestServices: true })("the check of the storage", (it) => {
  it.effect("logs an error when none of the latest files in use is in the storage, and nothing otherwise", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf("objects")
      const inEmptyFolder = Effect.acquireUseRelease(
        Effect.sync(() => {
          renameSync(folder, `${folder}-elsewhere`)
          mkdirSync(folder)
        }),
        () => logged,
        () =>
          Effect.sync(() => {
            rmSync(folder, { recursive: true })
            renameSync(`${folder}-elsewhere`, folder)
          })
      )
      assert.deepStrictEqual(yield* logged, [])
      yield* upload(bytes)
      // A file that nothing uses may be removed at any time.
      assert.deepStrictEqual(yield* inEmptyFolder, [])
      yield* attach((yield* upload(new Uint8Array(10))).fileUuid)
      assert.deepStrictEqual(yield* logged, [])
      assert.deepStrictEqual(yield* inEmptyFolder, [
        "Error None of the latest files that the database knows is in /files. Is its disk mounted, and are STORAGE, DATA_DIR, S3_BUCKET and DATABASE_URL those of one installation?"
      ])
    })
  )
})
