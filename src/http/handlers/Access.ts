import { Effect, type Option } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { audiences } from "../../api/access/AudienceQuery.ts"
import type { Access } from "../../domain/access/Access.ts"
import { accessOf } from "../../domain/access/Reasons.ts"
import { readPermissions, visibleTo } from "../../domain/changes/RecordType.ts"
import { encodedOf, type EncodedPage } from "../../domain/schema/Encoded.ts"
import { parse } from "../../domain/query/Filter.ts"
import { membersOf } from "../../domain/query/Selection.ts"
import { filterableOf } from "../../domain/query/FilterFields.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { Explanations } from "../../repositories/access/Explanations.ts"
import { audienceOf, seenBy } from "../../repositories/access/Audiences.ts"
import type { Resource, Subject } from "../../repositories/access/Belongings.ts"
import { Products } from "../../repositories/catalog/Products.ts"
import { Locations } from "../../repositories/locations/Locations.ts"
import { Users } from "../../repositories/people/Users.ts"
import { notFound } from "../../repositories/changes/RecordKinds.ts"
import { recordTables } from "../../repositories/changes/RecordTables.ts"
import { Posts } from "../../repositories/posts/Posts.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import { demand } from "../transport/Authorization.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import * as Included from "./reads/Included.ts"
import { visibility } from "./reads/Visibility.ts"
import { viewOf } from "./reads/PostView.ts"

interface Asked {
  readonly params: { readonly uuid: string }
  readonly query: Omit<ListRequest, "filter"> & { readonly of?: Subject; readonly filter?: string }
}

export const layer = HandlerGroup.group(
  Api,
  "access",
  Effect.fnUntraced(function* (handlers) {
    const explanations = yield* Explanations
    const [users, locations, products, posts] = [yield* Users, yield* Locations, yield* Products, yield* Posts]

    const audience = <R extends Resource>(resource: R) =>
      Effect.fnUntraced(function* ({ params: { uuid }, query: { of = "users", ...query } }: Asked) {
        const request = yield* requestOf(of, query)
        yield* demand(`read:${of}`)
        const answer = audienceOf(resource, uuid, of)
        return of === "users"
          ? yield* pageWith(request, users.listWithin(answer, request), () => notFound[resource].of(uuid))
          : yield* pageWith(request, locations.listWithin(answer, request), () => notFound[resource].of(uuid))
      })

    const productsOf = <S extends Subject>(subject: S, uuid: string, query: ListRequest) =>
      Effect.flatMap(visibility, (visible) =>
        pageWith(query, products.listWithin(seenBy(subject, uuid, "products"), query, visible), () =>
          notFound[subject].of(uuid)
        )
      )

    const explain = Effect.fnUntraced(function* (query: ExplainQuery) {
      const [subject, resource] = [
        yield* chosen(query, ["user", "location"]),
        yield* chosen(query, ["product", "post"])
      ]
      yield* demand(readPermissions[subject.type], readPermissions[resource.type])
      const pair = {
        subject: recordTables[subject.type],
        subjectUuid: subject.uuid,
        resource: recordTables[resource.type],
        resourceUuid: resource.uuid
      }
      const { facts, isSubject } = yield* explanations.explain(pair)
      if (facts === null) {
        const { type, uuid } = isSubject ? resource : subject
        return yield* notFound[recordTables[type]].of(uuid)
      }
      const { permissions } = yield* CurrentApiKey
      return encodedOf<Access>(accessOf(facts, visibleTo(permissions)))
    })

    return handlers.handleAll({
      explain: ({ query }) => Envelope.one(explain(query)),
      listProductAudience: audience("products"),
      listPostAudience: audience("posts"),
      listUserProducts: ({ params: { uuid }, query }) => productsOf("users", uuid, query),
      listUserPosts: ({ params: { uuid }, query: { locale, ...request } }) =>
        Envelope.page(
          Effect.flatMap(viewOf(locale), (view) =>
            orNotFound(posts.listWithin(seenBy("users", uuid, "posts"), request, view), () => notFound.users.of(uuid))
          )
        ),
      listLocationProducts: ({ params: { uuid }, query }) => productsOf("locations", uuid, query)
    })
  })
)

type Explained = "user" | "location" | "product" | "post"
type ExplainQuery = { readonly [Type in Explained]?: string }

/** The one parameter that a question has of several. */
const chosen = <Type extends Explained>(query: ExplainQuery, types: readonly [Type, Type]) => {
  const given = types.flatMap((type) => {
    const uuid = query[type]
    return uuid === undefined ? [] : [{ type, uuid }]
  })
  const [first] = given
  const names = types.join(" or ")
  if (first === undefined) return rejected(types[0], "required", `Required: ${names}`)
  return given.length === 1 ? Effect.succeed(first) : rejected(types[1], "notAllowed", `Pass either ${names}`)
}

const orNotFound = <A, E, R, NotFound>(list: Effect.Effect<Option.Option<A>, E, R>, notFound: () => NotFound) =>
  Effect.flatMap(list, (page) => Effect.fromOption(page, notFound))

/** The answer to a list, if the key may read the records that it includes. */
const pageWith = <A, E, R, NotFound>(
  request: ListRequest,
  list: Effect.Effect<Option.Option<EncodedPage<A>>, E, R>,
  notFound: () => NotFound
) => Envelope.page(Included.permitted(request, orNotFound(list, notFound)))

const filterable = { users: filterableOf(audiences.users.record), locations: filterableOf(audiences.locations.record) }

const members = {
  users: membersOf(audiences.users.answered.ast).map(({ path }) => path),
  locations: membersOf(audiences.locations.answered.ast).map(({ path }) => path)
}

const rejected = (path: string, code: string, message: string) =>
  Effect.fail(InvalidRequestError.at("query", path, code, message))

/** The request for a list of the records that `of` chooses. */
const requestOf = Effect.fnUntraced(function* (of: Subject, { filter, ...query }: Omit<Asked["query"], "of">) {
  const { fields = [], include = [], sortBy } = query
  const sortable: ReadonlyArray<string> = audiences[of].sortable
  if (sortBy !== undefined && !sortable.includes(sortBy))
    return yield* rejected("sortBy", "notAllowed", `Expected one of ${sortable.join(", ")}`)
  const unknown = fields.find((path) => !members[of].includes(path))
  if (unknown !== undefined) return yield* rejected("fields", "unknownMember", `Unknown field "${unknown}" of ${of}`)
  const names: ReadonlyArray<string> = audiences[of].names
  if (include.some((name) => !names.includes(name)))
    return yield* rejected("include", "notAllowed", `Expected some of ${names.join(", ")}`)
  if (filter === undefined) return query
  return { ...query, filter: yield* Effect.fromResult(parse(filterable[of], filter)) }
})
