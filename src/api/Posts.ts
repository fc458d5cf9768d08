import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AssetNotFoundError } from "../domain/assets/Asset.ts"
import { HistoryExpiredError } from "../domain/changes/Errors.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { GroupNotFoundError } from "../domain/people/Group.ts"
import { InvalidLocaleError, Locale } from "../domain/schema/Locale.ts"
import { LocationNotFoundError } from "../domain/locations/Location.ts"
import { PartialPost, Post, PostCreate, PostId, PostNotFoundError, sortable } from "../domain/posts/Post.ts"
import { UserNotFoundError } from "../domain/people/User.ts"
import { at } from "./changes/Past.ts"
import { group, operation } from "./Describe.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./changes/Delta.ts"
import * as History from "./changes/History.ts"
import * as Restore from "./changes/Restore.ts"
import * as Envelope from "./Envelope.ts"
import { answersHeaders } from "./openapi/Headers.ts"
import * as Records from "./Records.ts"
import { fields, ListQuery } from "./ListQuery.ts"

const uuid = { uuid: PostId }
const locale = {
  locale: Schema.optionalKey(
    Locale.annotate({
      description:
        "Returns one translation: that of this locale, else of its language, else of the default language, else the first."
    })
  )
}
const writeErrors = [
  InvalidLocaleError,
  UserNotFoundError,
  GroupNotFoundError,
  LocationNotFoundError,
  AssetNotFoundError
] as const

/** Articles for the users of the brand. */
export class PostsApi extends HttpApiGroup.make("posts")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: { ...ListQuery(Post, sortable), ...locale },
      success: Envelope.Page(Post),
      error: [InvalidFilterError, InvalidLocaleError]
    }).pipe(
      operation(
        "read:posts",
        "List posts",
        "A page of posts in every state, sorted and filtered. The total is exact. A filter on `translations` compares all of them, independent of `locale`."
      )
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: PostCreate,
      success: Envelope.Created(PostId),
      error: [...writeErrors]
    }).pipe(
      operation(
        "create:posts",
        "Create a new post",
        "`type` and `translations` are required. The post is a draft without an audience until both are set; the slug is made of the title."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "Post",
        id: PostId,
        create: PostCreate,
        patch: PartialPost,
        key: "slug",
        errors: [PostNotFoundError, ...writeErrors]
      })
    ).pipe(Bulk.writing("posts", "posts")),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(PostId, Post, "Post")).pipe(
      Delta.mirroring("read:posts", "posts")
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      query: { ...fields(Post), ...locale, ...at },
      success: Envelope.One(Post),
      error: [PostNotFoundError, HistoryExpiredError, InvalidLocaleError]
    }).pipe(
      operation(
        "read:posts",
        "Get a post",
        "The post. With `locale` it has one translation, whose locale is in `Content-Language`. Names in the audience need `read:groups` and `read:locations`."
      ),
      answersHeaders("Content-Language")
    ),
    HttpApiEndpoint.post("restore", "/:uuid/restore", Restore.restoration(PostId, PostNotFoundError, [])).pipe(
      Restore.restoring("posts", "post")
    ),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(PostId, PostNotFoundError)).pipe(
      History.describing("read:posts", "post")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialPost,
      success: Envelope.Written(PostId),
      error: [PostNotFoundError, ...writeErrors]
    }).pipe(
      operation(
        "update:posts",
        "Update a post",
        "Absent members are unchanged, `null` clears, lists and translations are replaced as a whole. To publish a draft now, schedule it with a `publishAt` that is not in the future. `If-Match` takes the ETag of the post read without `locale`."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(PostId, PostNotFoundError)).pipe(
      operation("delete:posts", "Delete a post", "Removes the post; its slug can be used again at once.")
    )
  )
  .prefix("/v1/posts")
  .annotateMerge(
    group("Posts", "Localised articles for the users of the brand, with a schedule, an expiry and an audience.")
  ) {}
