import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AssetNotFoundError } from "../domain/assets/Asset.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { GroupNotFoundError } from "../domain/people/Group.ts"
import { InvalidLocaleError, Locale } from "../domain/schema/Locale.ts"
import { LocationNotFoundError } from "../domain/locations/Location.ts"
import { PartialPost, Post, PostCreate, PostId, PostNotFoundError, sortable } from "../domain/posts/Post.ts"
import { UserNotFoundError } from "../domain/people/User.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { ListQuery } from "./ListQuery.ts"

const uuid = { uuid: PostId }
const locale = {
  locale: Schema.optionalKey(
    Locale.annotate({
      description:
        "Answers one translation: of this locale, else of its language, else of the default language, else the first."
    })
  )
}
const refusals = [
  InvalidLocaleError,
  UserNotFoundError,
  GroupNotFoundError,
  LocationNotFoundError,
  AssetNotFoundError
] as const

/** Articles for the people of the brand. */
export class PostsApi extends HttpApiGroup.make("posts")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: { ...ListQuery(Post, sortable), ...locale },
      success: Envelope.Page(Post),
      error: [InvalidFilterError, InvalidLocaleError]
    }).pipe(
      requires("read:posts"),
      describe(
        "List posts",
        "A page of posts in every state, sorted and filtered. The total is exact. A filter on `translations` looks at all of them, whatever `locale` is."
      )
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: PostCreate,
      success: Envelope.Created(PostId),
      error: [...refusals]
    }).pipe(
      requires("create:posts"),
      describe(
        "Create a new post",
        "Only `type` and `translations` are required. It is a draft for nobody until it is said when and for whom; the slug is made of the title."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      query: locale,
      success: Envelope.One(Post),
      error: [PostNotFoundError, InvalidLocaleError]
    }).pipe(
      requires("read:posts"),
      describe(
        "Get a post",
        "The post as it is now. With `locale` it has one translation, whose locale `Content-Language` tells. Names in the audience need `read:groups` and `read:locations`."
      )
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialPost,
      success: Envelope.Written(PostId),
      error: [PostNotFoundError, ...refusals]
    }).pipe(
      requires("update:posts"),
      describe(
        "Update a post",
        "Absent members stay as they are, `null` clears, lists are replaced whole, translations too. To publish a draft now, schedule it with a `publishAt` that is not in the future. `If-Match` takes the ETag of the post read without `locale`."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      success: Envelope.Written(PostId),
      error: PostNotFoundError
    }).pipe(requires("delete:posts"), describe("Delete a post", "Removes the post; its slug is free at once."))
  )
  .prefix("/v1/posts")
  .annotateMerge(
    OpenApi.annotations({
      title: "Posts",
      description: "Articles for the people of the brand: localised, scheduled and expiring, for everyone or a part."
    })
  ) {}
