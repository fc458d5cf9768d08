import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access } from "../../domain/access/Access.ts"
import * as Product from "../../domain/catalog/Product.ts"
import { LocationId, LocationNotFoundError } from "../../domain/locations/Location.ts"
import { UserNotFoundError } from "../../domain/people/User.ts"
import * as Post from "../../domain/posts/Post.ts"
import { InvalidFilterError } from "../../domain/query/Filter.ts"
import { InvalidLocaleError, Locale } from "../../domain/schema/Locale.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { UserId } from "../../domain/people/UserId.ts"
import { requires, requiresAlsoSome, requiresSome } from "../Authorization.ts"
import { describe, group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { locationRead, productRead, userRead } from "../Included.ts"
import { ListQuery } from "../ListQuery.ts"
import * as Records from "../Records.ts"
import { AudienceQuery } from "./AudienceQuery.ts"

const audienceOf = <Id extends Schema.Top, NotFound extends Schema.Top>(id: Id, notFound: NotFound) => ({
  params: { uuid: id },
  query: AudienceQuery,
  success: [Envelope.Page(userRead.answered), Envelope.Page(locationRead.answered)] as const,
  error: [notFound, InvalidFilterError] as const
})

const audience = (one: string) =>
  `The users who can see the ${one} now, sorted and filtered like the list of users. With \`of=locations\`, the locations whose users can see it. Needs \`read:users\` or \`read:locations\` for the records in the list.`

const productsOf = <Id extends Schema.Top, NotFound extends Schema.Top>(id: Id, notFound: NotFound) => ({
  params: { uuid: id },
  ...Records.listIncluding(Product.Product, Product.sortable, productRead),
  error: [notFound, InvalidFilterError] as const
})

const asked = <Id extends Schema.Top>(id: Id, description: string) =>
  Schema.optionalKey(id.pipe(Schema.annotateEncoded({ description })))

/** Who may see what. */
export class AccessApi extends HttpApiGroup.make("access")
  .add(
    HttpApiEndpoint.get("explain", "/access", {
      query: {
        user: asked(UserId, "The user, or else `location`."),
        location: asked(LocationId, "The location, instead of `user`."),
        product: asked(ProductId, "The product, or else `post`."),
        post: asked(Post.PostId, "The post, instead of `product`.")
      },
      success: Envelope.One(Access),
      error: [UserNotFoundError, LocationNotFoundError, Product.ProductNotFoundError, Post.PostNotFoundError]
    }).pipe(
      requiresSome("read:products", "read:posts"),
      describe(
        "Explain access",
        "Whether a user, or a location, can see a product or a post now, what can be done with it, and what every rule found. Needs the `read:` permission of both: `read:users` or `read:locations`, and `read:products` or `read:posts`."
      )
    ),
    HttpApiEndpoint.get(
      "listProductAudience",
      "/products/:uuid/audience",
      audienceOf(ProductId, Product.ProductNotFoundError)
    ).pipe(
      operation("read:products", "List the audience of a product", audience("product")),
      requiresAlsoSome("read:users", "read:locations")
    ),
    HttpApiEndpoint.get(
      "listPostAudience",
      "/posts/:uuid/audience",
      audienceOf(Post.PostId, Post.PostNotFoundError)
    ).pipe(
      operation("read:posts", "List the audience of a post", audience("post")),
      requiresAlsoSome("read:users", "read:locations")
    ),
    HttpApiEndpoint.get("listUserProducts", "/users/:uuid/products", productsOf(UserId, UserNotFoundError)).pipe(
      requires("read:users", "read:products"),
      describe(
        "List products of a user",
        "The products that the user can see now, sorted and filtered like the list of products."
      )
    ),
    HttpApiEndpoint.get("listUserPosts", "/users/:uuid/posts", {
      params: { uuid: UserId },
      query: { ...ListQuery(Post.Post, Post.sortable), locale: Schema.optionalKey(Locale) },
      success: Envelope.Page(Post.Post),
      error: [UserNotFoundError, InvalidFilterError, InvalidLocaleError]
    }).pipe(
      requires("read:users", "read:posts"),
      describe(
        "List posts of a user",
        "The posts that the user can see now, sorted and filtered like the list of posts."
      )
    ),
    HttpApiEndpoint.get(
      "listLocationProducts",
      "/locations/:uuid/products",
      productsOf(LocationId, LocationNotFoundError)
    ).pipe(
      requires("read:locations", "read:products"),
      describe(
        "List products of a location",
        "The products that the location can see now, sorted and filtered like the list of products."
      )
    )
  )
  .prefix("/v1")
  .annotateMerge(group("Access", "Who may see which products and posts, and why.")) {}
