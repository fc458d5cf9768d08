import "effect/schema/SchemaJITCompiler/enable"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { LocationsApi } from "../../src/api/Locations.ts"
import { Settings } from "../../src/settings/Config.ts"
import * as Locale from "../../src/domain/schema/Locale.ts"
import { noPrecondition } from "../../src/domain/query/Precondition.ts"
import * as Envelope from "../../src/http/transport/Envelope.ts"
import * as ListeningUrl from "../../src/app/ListeningUrl.ts"
import { Locations, type WrittenLocation } from "../../src/repositories/locations/Locations.ts"
import { Memberships } from "../../src/repositories/people/Memberships.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Service from "../../src/app/Service.ts"
import * as Startup from "../../src/app/Startup.ts"

// The stack alone: HttpApi, the schemas and the statements of locations, without the keys, permissions, limits, request
// ids, metrics, log and errors of Waypost. It measures the minimum cost of any service on this stack.
const api = HttpApi.make("bare")
  .add(LocationsApi)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", reportInput: true })

/** Measured writes never fail. */
const written = <E>(write: Effect.Effect<WrittenLocation, E>) =>
  Effect.orDie(Effect.map(write, ({ uuid }) => ({ uuid })))

const notMeasured = () => Effect.die("Not measured")

const handlers = HttpApiBuilder.group(
  api,
  "locations",
  Effect.fnUntraced(function* (handlers) {
    const locations = yield* Locations
    return handlers.handleAll({
      list: ({ query }) => Envelope.page(locations.list(query)),
      get: ({ params }) => Envelope.one(locations.get(params.uuid)),
      create: ({ payload }) => written(locations.create(payload)),
      update: ({ params, payload }) => written(locations.update(params.uuid, payload, noPrecondition)),
      bulk: notMeasured,
      history: notMeasured,
      resolve: notMeasured,
      territories: notMeasured,
      restore: notMeasured,
      delta: notMeasured,
      delete: notMeasured,
      eraseHistory: notMeasured,
      updateMedia: notMeasured,
      updateTranslationLabels: notMeasured,
      listUsers: notMeasured,
      updateUsers: notMeasured,
      listGroups: notMeasured,
      updateGroups: notMeasured
    })
  })
)

const server = Layer.unwrap(
  Effect.map(Settings, ({ HOST, PORT }) => NodeHttpServer.layer(() => createServer(), { host: HOST, port: PORT }))
)

const service = HttpRouter.serve(HttpApiBuilder.layer(api), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(handlers),
  Layer.provide(Locations.layer),
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locale.Locales, Locale.make(undefined))),
  Layer.provide(ListeningUrl.layer),
  Layer.provide(server),
  Layer.provide(Sql.layer),
  Layer.provide(Startup.database),
  Layer.provide(Service.platform)
)

Service.run(Layer.launch(service))
