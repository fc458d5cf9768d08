import type { Schema } from "effect"
import * as Asset from "../../../src/domain/assets/Asset.ts"
import * as Group from "../../../src/domain/people/Group.ts"
import * as Location from "../../../src/domain/locations/Location.ts"
import * as Post from "../../../src/domain/posts/Post.ts"
import * as Product from "../../../src/domain/catalog/Product.ts"
import { fieldOf } from "../../../src/domain/assets/metaTags/MetaTagField.ts"
import type { Field } from "../../../src/domain/query/FilterFields.ts"
import * as User from "../../../src/domain/people/User.ts"

import { metaTags } from "./seed/meta-tags.ts"

interface Collection {
  readonly record: Schema.Top
  readonly sortable: ReadonlyArray<string>
  /** Fields besides those of the record. */
  readonly fields?: ReadonlyArray<Field>
  /** Filters that match few, many or all records; `$` is replaced by a rare value. */
  readonly filters: ReadonlyArray<string>
  /** SQL that selects rare values as `value`. */
  readonly rareValues: string
}

export const collections: Readonly<Record<string, Collection>> = {
  locations: {
    record: Location.Location,
    sortable: Location.sortable,
    rareValues: "select split_part(name, ' ', 2) as value from locations",
    filters: [
      "name:contains:$&sortBy=name",
      "name:contains:$,address.city:equals:Utrecht,createdAt:gte:2020-01-01",
      "name:contains:bakkerij",
      "name:contains:bakkerij&page=1000&sortBy=name",
      "name:contains:er&sortBy=name",
      "name:contains:e",
      "name:startsWith:b",
      "address.city:equals:Utrecht&sortBy=name",
      "address.city:contains:recht",
      "locale:equals:nl-NL&sortBy=address.city",
      "createdAt:gte:2020-01-01",
      "createdAt:gte:2020-01-01&page=500&sortBy=name",
      "name:contains:bakkerij&total=false",
      "name:contains:e&total=false",
      "address.city:equals:Utrecht&sortBy=name&total=false",
      "createdAt:gte:2020-01-01&total=false",
      "postalCodes:startsWith:1042&total=false",
      "createdAt:lt:2020-01-01",
      "coordinates.latitude:gt:52.9,coordinates.longitude:lt:4.1",
      "postalCodes:startsWith:1042",
      "other.extraDna2:contains:region 1"
    ]
  },
  assets: {
    record: Asset.Asset,
    sortable: Asset.sortable,
    fields: metaTags.map(fieldOf),
    rareValues: "select split_part(name, ' ', -1) as value from assets where name ~ ' '",
    filters: [
      "translations.name:contains:$&sortBy=name",
      "translations.name:contains:e",
      "translations.description:contains:zomer",
      "fileNameOriginal:contains:zomer&sortBy=name",
      "fileExtension:equals:pdf",
      "fileExtension:equals:pdf,fileSize:gt:5000000",
      "fileSize:gt:5000000&sortBy=fileSize",
      "createdAt:gte:2020-01-01",
      "categories:equals:photos",
      "metaTags.key:equals:rare",
      "metaTags.key:equals:year&sortBy=name",
      "metaTags.rare:equals:once",
      "metaTags.photographer:equals:Photographer 77",
      "metaTags.photographer:contains:fer 77",
      "metaTags.year:gt:2013&sortBy=name",
      "metaTags.shotOn:gte:2025-01-01,metaTags.year:equals:2002",
      "mimeType:equals:image/png"
    ]
  },
  users: {
    record: User.User,
    sortable: User.sortable,
    rareValues: "select username as value from users",
    filters: [
      "username:contains:$",
      "email:contains:e&sortBy=lastName",
      "status:equals:active&sortBy=lastName",
      "role:equals:ROLE_ADMIN"
    ]
  },
  groups: {
    record: Group.Group,
    sortable: Group.sortable,
    rareValues: "select split_part(name, ' ', 3) as value from groups",
    filters: ["name:contains:$", "name:contains:e&sortBy=userCount", "userCount:gt:10"]
  },
  products: {
    record: Product.Product,
    sortable: Product.sortable,
    rareValues: "select split_part(name, ' ', 2) as value from products",
    filters: [
      "name:contains:$",
      "name:contains:e&sortBy=name",
      "status:equals:published&sortBy=name",
      "modules.module:equals:files",
      "modules.module:equals:files,modules.active:equals:true",
      "variantCount:gt:0",
      "tags:equals:tag 77"
    ]
  },
  posts: {
    record: Post.Post,
    sortable: Post.sortable,
    rareValues: "select split_part(title, ' ', 2) as value from posts",
    filters: [
      "translations.title:contains:$",
      "translations.body:contains:branch",
      "status:equals:published&sortBy=title",
      "author.name:contains:bakker",
      "audience.locations.name:contains:utrecht",
      "tags:equals:tag 77"
    ]
  }
}
