import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { secondsUntilFreed } from "../../../src/repositories/assets/UnattachedBytes.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { explained, filled, nodes } from "../../sql/Explained.ts"
import { settings } from "../../support/TestServer.ts"

const share = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

/** 20,000 files of one key, of which records use all but ten, and 20,000 unattached ones of other keys. */
const fill = [
  `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, unattached_since, share_uuid)
    select gen_random_uuid(), 'a', 'txt', 'text/plain', 3, '', 'a', 'a', case when i <= 10 then now() end, '${share}'
    from generate_series(1, 20000) i`,
  `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, share_uuid)
    select gen_random_uuid(), 'a', 'txt', 'text/plain', 3, '', 'a', 'a', gen_random_uuid() from generate_series(1, 20000)`,
  "vacuum analyze files"
]

layer(filled(fill).pipe(Layer.provide(settings())), { excludeTestServices: true })("the quota of a key", (it) => {
  it.effect("counting the unattached bytes of a key reads only the unattached files of that key", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const count = secondsUntilFreed(pooled, { share, maxBytes: 32 }, 3)
      assert.isTrue(Option.isSome(yield* count))
      assert.isTrue(Option.isNone(yield* secondsUntilFreed(pooled, { share, maxBytes: 33 }, 3)))
      const plan = nodes(yield* explained(count, { run: true }))
      assert.isTrue(plan.some((node) => node["Index Name"] === "files_unattached_of_share"))
      assert.isAtMost(Math.max(...plan.map((node) => node["Actual Rows"] * node["Actual Loops"])), 10)
    })
  )
})
