import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import { ModuleNotActiveError } from "../../domain/catalog/ProductModule.ts"
import { LocationId, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { InvalidFilterError } from "../../domain/query/Filter.ts"
import {
  CoveredLocales,
  LocaleCoverage,
  readPermissionOf,
  RecordCoverage,
  TranslatedResource
} from "../../domain/quality/Coverage.ts"
import * as Quality from "../../domain/quality/LocationQuality.ts"
import { LocationQuality, QualityCounts } from "../../domain/quality/LocationQuality.ts"
import { BranchReadiness, ProductReadiness, ReadinessCounts, sortable } from "../../domain/quality/Readiness.ts"
import { InvalidLocaleError } from "../../domain/schema/Locale.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { requires, requiresSome } from "../Authorization.ts"
import { describe, group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { direction, ListQuery } from "../ListQuery.ts"

/** The query of a list that is sorted by name. */
const byName = (record: Schema.Top) => ({
  ...ListQuery(record, sortable),
  sortBy: Schema.optionalKey(Schema.Literals(sortable).annotate({ default: "name" })),
  sortOrder: Schema.optionalKey(direction("asc"))
})

/** The parameters of a list that is in one order. */
const pagesOf = ({ after, fields, filter, limit, page, total }: ReturnType<typeof ListQuery>) => ({
  limit,
  page,
  after,
  total,
  filter,
  fields
})

/** Whether the data of the branches is complete and correct. */
export class QualityApi extends HttpApiGroup.make("quality")
  .add(
    HttpApiEndpoint.get("readinessOfProduct", "/products/:uuid/readiness", {
      params: { uuid: ProductId },
      query: byName(BranchReadiness),
      success: Envelope.CountedPage(BranchReadiness, ReadinessCounts),
      error: [ProductNotFoundError, ModuleNotActiveError, InvalidFilterError]
    }).pipe(
      requires("read:products", "read:locations"),
      describe(
        "List branches with the readiness for a product",
        "Every branch that may use a product with a template module, and what its template needs that the branch does not have. Values of `userProfile` belong to the person who uses the template and are not checked."
      )
    ),
    HttpApiEndpoint.get("readinessOfLocation", "/locations/:uuid/readiness", {
      params: { uuid: LocationId },
      query: byName(ProductReadiness),
      success: Envelope.CountedPage(ProductReadiness, ReadinessCounts),
      error: [LocationNotFoundError, InvalidFilterError]
    }).pipe(
      requires("read:products", "read:locations"),
      describe(
        "List products with the readiness of a branch",
        "Every product with a template module that a branch may use, and what its template needs that the branch does not have."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("ofLocations", "/locations/quality", {
      query: {
        ...ListQuery(LocationQuality, Quality.sortable),
        sortBy: Schema.optionalKey(Schema.Literals(Quality.sortable).annotate({ default: "score" })),
        sortOrder: Schema.optionalKey(direction("asc"))
      },
      success: Envelope.CountedPage(LocationQuality, QualityCounts),
      error: InvalidFilterError
    }).pipe(
      operation(
        "read:locations",
        "List locations with the quality of their data",
        "Every location with a score and what is wrong with its data, by default the worst first, and how many break each rule. Scores, issues and counts follow a write within a minute; a new location is listed from then on."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("coverage", "/translations/coverage", {
      query: {
        locales: CoveredLocales,
        resource: Schema.optionalKey(
          TranslatedResource.annotate({ description: "The list of the records of this resource, with their statuses." })
        ),
        ...pagesOf(ListQuery(RecordCoverage, []))
      },
      success: Envelope.Page(Schema.Union([LocaleCoverage, RecordCoverage])),
      error: [InvalidLocaleError, InvalidFilterError]
    }).pipe(
      requiresSome(...TranslatedResource.literals.map(readPermissionOf)),
      describe(
        "List the coverage of translations",
        "How many records of each resource are translated into some locales. A record is complete in a locale if every text of its default translation is there in exactly that locale. With `resource`, every record with its status in each locale, sorted by uuid; `filter`, `fields`, `after` and `total` need `resource`. Needs `read:products`, `read:assets`, `read:posts` or `read:meta-tags`; resources that the key may not read are left out."
      )
    )
  )
  .prefix("/v1")
  .annotateMerge(group("Quality", "Whether the data of the branches is complete and correct.")) {}
