import { Effect } from "effect"
import type { Client } from "../../client/Client.ts"
import type { AssetId } from "../../domain/assets/Asset.ts"
import { type Failure, persistently } from "../Failures.ts"

/** An asset whose file has the content of another file. */
export interface Same {
  readonly asset: AssetId
  readonly fileName: string
}

/** The asset with this content, of several the one whose file has this name, else the oldest. */
export const find = (
  assets: Client["Service"]["assets"],
  sha256: string,
  name: string
): Effect.Effect<Same | undefined, Failure> =>
  Effect.gen(function* () {
    const content = { field: "sha256", operator: "equals", value: sha256 } as const
    const first = (filter: ReadonlyArray<typeof content | { field: string; operator: "equals"; value: string }>) =>
      Effect.map(
        persistently(assets.list({ query: { limit: 1, sortBy: "createdAt", sortOrder: "asc", filter } })),
        ({ data: [found] }) => found && { asset: found.uuid, fileName: found.fileNameOriginal }
      )
    const named = yield* first([content, { field: "fileNameOriginal", operator: "equals", value: name }])
    return named ?? (yield* first([content]))
  })
