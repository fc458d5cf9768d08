import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import type { MissingPermissionsError } from "../../domain/keys/ApiKey.ts"
import {
  type LocaleCoverage,
  type RecordCoverage,
  readPermissionOf,
  TranslatedResource
} from "../../domain/quality/Coverage.ts"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import type { InvalidLocaleError } from "../../domain/schema/Locale.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { Coverage } from "../../repositories/quality/Coverage.ts"
import { LocationQuality } from "../../repositories/quality/LocationQuality.ts"
import { Readiness } from "../../repositories/quality/Readiness.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import { demand } from "../transport/Authorization.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

interface CoverageRequest extends ListRequest {
  readonly locales: ReadonlyArray<string>
  readonly resource?: TranslatedResource | undefined
}

const needsResource = (parameters: ReadonlyArray<string>) =>
  InvalidRequestError.of(
    parameters.map((path) => ({ in: "query", path, code: "invalidFormat", message: `\`${path}\` needs \`resource\`` }))
  )

export const layer = HandlerGroup.group(
  Api,
  "quality",
  Effect.fnUntraced(function* (handlers) {
    const readiness = yield* Readiness
    const coverage = yield* Coverage
    const qualities = yield* LocationQuality
    const covered = Effect.fnUntraced(function* ({
      locales,
      resource,
      ...request
    }: CoverageRequest): Effect.fn.Return<
      EncodedPage<LocaleCoverage | RecordCoverage>,
      InvalidLocaleError | MissingPermissionsError,
      CurrentApiKey
    > {
      if (resource !== undefined) {
        yield* demand(readPermissionOf(resource))
        return yield* coverage.ofRecords(resource, locales, request)
      }
      const alone = (["filter", "fields", "after", "total"] as const).filter((name) => request[name] !== undefined)
      if (alone.length > 0) return yield* Effect.die(needsResource(alone))
      const { permissions } = yield* CurrentApiKey
      const resources = TranslatedResource.literals.filter((name) => permissions.has(readPermissionOf(name)))
      return yield* coverage.ofResources(resources, locales, request)
    })
    return handlers.handleAll({
      readinessOfProduct: ({ params, query }) => Envelope.countedPage(readiness.ofProduct(params.uuid, query)),
      readinessOfLocation: ({ params, query }) => Envelope.countedPage(readiness.ofLocation(params.uuid, query)),
      ofLocations: ({ query }) => Envelope.countedPage(qualities.list(query)),
      coverage: ({ query }) => Envelope.page(covered(query))
    })
  })
)
