import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { Settings } from "../../src/settings/Config.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Services from "../../src/app/layers/Services.ts"
import { sweep, sweepOrphans } from "../../src/jobs/Sweeper.ts"
import { send } from "./requests/Requests.ts"
import { filesBelow } from "./requests/UploadRequests.ts"
import * as TestServer from "./TestServer.ts"

/** The service in memory, with the services that a sweep needs. */
export const services = Services.layer.pipe(
  Layer.provide([TestServer.publicUrl, NodeServices.layer]),
  Layer.provideMerge(TestServer.layer())
)

export const bytes = new TextEncoder().encode("abc")
export const hour = 3_600_000

/** Sweeps at a given time, because the change times of files, which a sweep compares, cannot be set. */
export const sweepAt = (now: number) => Effect.andThen(sweep, sweepOrphans(now))

export const folderOf = (name: "objects" | "uploads") =>
  Effect.map(Settings, ({ DATA_DIR }) => join(DATA_DIR, "files", name))

export const objects = Effect.map(folderOf("objects"), filesBelow)
export const uploads = Effect.map(folderOf("uploads"), filesBelow)

/** Whether the bytes of a file are stored, read from the folder. */
export const hasBytes = (uuid: string) => Effect.map(objects, (paths) => paths.some((path) => path.includes(uuid)))

export const execute = (text: string, ...values: ReadonlyArray<unknown>) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<{ readonly status: string }>(text, values))

/** Makes an unattached file unattached for `interval`; an attached file is unchanged. */
export const unattachedFor = (uuid: string, interval: string) =>
  execute(
    "update files set unattached_since = now() - $2::interval where uuid = $1 and unattached_since is not null",
    uuid,
    interval
  )

export const expire = (uuid: string) =>
  execute("update upload_sessions set expires_at = now() - interval '1 second' where uuid = $1", uuid)

export const statusOf = (uuid: string) =>
  Effect.map(execute("select status from upload_sessions where uuid = $1", uuid), (rows) => rows[0]?.status)

export const attach = (fileUuid: string) => send("POST", "/v1/assets", { body: { fileUuid } })
export const show = (location: string, fileUuid: string) =>
  send("PUT", `/v1/locations/${location}/media`, { body: { items: [{ fileUuid, role: "other" }] } })
/** Makes the file the only one of a product. */
export const offer = (product: string, fileUuid: string) =>
  send("PUT", `/v1/products/${product}/modules/files`, { body: { files: [{ fileUuid, role: "download" }] } })
