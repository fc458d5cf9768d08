import { Duration, Effect, Exit, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { installed } from "../../settings/Installation.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { Uploads } from "../../services/Uploads.ts"
import { RouteNotFoundError } from "../../domain/write/RequestErrors.ts"
import { noRoute } from "../transport/Failures.ts"
import type { Route } from "../transport/RouteTable.ts"
import * as SharedPage from "./SharedPage.ts"

/** No screen has this name, so that the address of each record is a screen. */
const file = SharedPage.get("/console/files/:file")

/** Every screen is the same page, which reads its own address. */
const screens = [
  SharedPage.get("/console"),
  SharedPage.get("/console/:screen"),
  SharedPage.get("/console/:screen/:record"),
  SharedPage.get("/console/:screen/:record/:tab")
] as const

export const routes: ReadonlyArray<Route> = [...screens, file]

/** Where `scripts/build/console.ts` puts the console. */
const folder = installed("dist/console")

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml"
}

const notBuilt = new RouteNotFoundError({
  message: "The console is not built; npm ci without --omit=dev, or npm run build, builds it"
})

/** Pictures have the public addresses of the service, and parts of uploads go to `partOrigin`. */
const policyOf = ({ cdn, origin }: PublicUrl["Service"], partOrigin: string) =>
  SharedPage.policyOf({ images: ["blob:", origin, cdn], connections: new Set([origin, partOrigin]) })

const cached = "public, max-age=31536000, immutable"

/** The files of the console, read once. A name has a hash of its content, so that browsers keep it. */
const read = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const share = yield* SharedPage.make
  const headers = { "content-security-policy": policyOf(yield* PublicUrl, yield* (yield* Uploads).partOrigin) }
  const page = HttpServerResponse.uint8Array(yield* fs.readFile(path.join(folder, "index.html")), {
    contentType: "text/html; charset=utf-8",
    headers
  })
  const names = yield* fs.readDirectory(path.join(folder, "files"))
  const files = yield* Effect.forEach(names, (name) =>
    Effect.map(fs.readFile(path.join(folder, "files", name)), (content) => {
      const contentType = types[path.extname(name)] ?? "application/octet-stream"
      return [name, HttpServerResponse.uint8Array(content, { contentType, headers })] as const
    })
  )
  return { page: share(page), files: new Map(files.map(([name, response]) => [name, share(response)])) }
})

/** The web console. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | PublicUrl | Uploads>()
    const known = yield* Effect.cachedWithTTL(
      read.pipe(
        Effect.provide(context),
        Effect.catchReason("PlatformError", "NotFound", () => Effect.die(notBuilt)),
        Effect.orDie
      ),
      (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
    )
    const page = Effect.gen(function* () {
      const { params } = yield* HttpRouter.RouteContext
      if (Object.values(params).includes("")) return yield* Effect.die(noRoute)
      return yield* (yield* known).page
    })
    for (const { method, path } of screens) yield* router.add(method, path, page)
    yield* router.add(
      file.method,
      file.path,
      Effect.gen(function* () {
        const { params } = yield* HttpRouter.RouteContext
        const found = (yield* known).files.get(params["file"] ?? "")
        if (found === undefined)
          return yield* Effect.die(new RouteNotFoundError({ message: "The console has no such file" }))
        return HttpServerResponse.setHeader(yield* found, "cache-control", cached)
      })
    )
  })
)
