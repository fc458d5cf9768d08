import { Effect } from "effect"
import { createPost, translation } from "../requests/PostRequests.ts"
import { createGroup, createLocation, createProduct, createUser, reservationOf } from "../requests/ProductRequests.ts"
import { unique, unknownUuid } from "../requests/Requests.ts"
import {
  ask,
  asset,
  category,
  file,
  group,
  location,
  metaTag,
  newCategory,
  newProduct,
  newTag,
  newUser,
  on,
  post,
  type Prepared,
  product,
  productWith,
  reservation,
  user
} from "./Calls.ts"

const unknownLocale = "qq-QQ"
const named = [{ locale: unknownLocale, name: "Name" }]

/** A member whose value a record created by `make` already has. */
const taken = <E, R>(
  member: string,
  value: () => string,
  make: (fields: Readonly<Record<string, unknown>>) => Effect.Effect<string, E, R>
) =>
  Effect.suspend(() => {
    const fields = { [member]: value() }
    return Effect.as(make(fields), fields)
  })
const takenUsername = taken(
  "username",
  () => unique("taken"),
  (fields) => createUser({ ...newUser(), ...fields })
)
const takenEmail = taken(
  "email",
  () => `${unique("taken")}@example.com`,
  (fields) => createUser({ ...newUser(), ...fields })
)
const takenIdentifier = taken("identifier", () => unique("taken"), createLocation)
const takenNumber = taken("identifier", () => unique("taken"), createProduct)
const takenName = taken("name", () => unique("Taken"), createGroup)
const body = <E, R>(made: Effect.Effect<unknown, E, R>) => Effect.map(made, (body) => ({ body }))
const inUse = Effect.tap(asset, (coverAssetUuid) => createPost({ coverAssetUuid }))

const postErrors: Readonly<Record<string, object>> = {
  InvalidLocaleError: { translations: [translation({ locale: unknownLocale })] },
  UserNotFoundError: { author: { uuid: unknownUuid } },
  GroupNotFoundError: { audience: { groups: [{ uuid: unknownUuid }] } },
  LocationNotFoundError: { audience: { locations: [{ uuid: unknownUuid }] } },
  AssetNotFoundError: { coverAssetUuid: unknownUuid }
}

/** Calls that fail with an error specific to the operation, by `operation error`. */
export const errorCalls: Readonly<Record<string, Prepared>> = {
  "users.create InvalidLocaleError": post({ ...newUser(), languageCode: "qq" }),
  "users.create LocationNotFoundError": post({ ...newUser(), locations: [unknownUuid] }),
  "users.create GroupNotFoundError": post({ ...newUser(), groups: [unknownUuid] }),
  "users.create UsernameNotUniqueError": body(Effect.map(takenUsername, (fields) => ({ ...newUser(), ...fields }))),
  "users.create EmailNotUniqueError": body(Effect.map(takenEmail, (fields) => ({ ...newUser(), ...fields }))),
  "users.update InvalidLocaleError": on(user, { languageCode: "qq" }),
  "users.update UsernameNotUniqueError": on(user, takenUsername),
  "users.update EmailNotUniqueError": on(user, takenEmail),
  "users.updateLocations LocationNotFoundError": on(user, { locations: [unknownUuid] }),
  "users.updateGroups GroupNotFoundError": on(user, { groups: [unknownUuid] }),
  "products.create DuplicateIdentifierError": body(
    Effect.map(takenNumber, (fields) => ({ ...newProduct(), ...fields }))
  ),
  "products.create InvalidLocaleError": post({ ...newProduct(), translations: named }),
  "products.create ProductNotFoundError": post({
    ...newProduct(),
    type: "variant",
    parentUuid: unknownUuid,
    optionValues: [{ option: "size", value: "a1" }]
  }),
  "products.update DuplicateIdentifierError": on(product, takenNumber),
  "products.update InvalidLocaleError": on(product, { translations: named }),
  "products.recordApiCall ModuleNotActiveError": on(product, { status: "ok", httpStatus: 200 }),
  "reservations.create LocationNotFoundError": on(productWith("reservations"), reservationOf(unknownUuid, 1, 25)),
  "reservations.create ModuleNotActiveError": on(product, reservation),
  "reservations.create ModuleIncompatibleWithProductTypeError": on(
    Effect.suspend(() => createProduct({ type: "variantParent" })),
    reservation
  ),
  "reservations.cancel ReservationNotFoundError": Effect.map(product, (uuid) => ({
    uuid,
    reservationUuid: unknownUuid
  })),
  "locations.create DuplicateIdentifierError": body(
    Effect.map(takenIdentifier, (fields) => ({ name: "B", ...fields }))
  ),
  "locations.create InvalidLocaleError": post({ name: "B", identifier: unique("branch"), locale: unknownLocale }),
  "locations.update DuplicateIdentifierError": on(location, takenIdentifier),
  "locations.update InvalidLocaleError": on(location, { locale: unknownLocale }),
  "locations.updateMedia InvalidLocaleError": on(
    location,
    Effect.map(file, (fileUuid) => ({
      items: [{ fileUuid, role: "team", labels: [{ key: "alt", locale: unknownLocale, label: "A" }] }]
    }))
  ),
  "locations.updateMedia AssetNotFoundError": on(location, { items: [{ assetUuid: unknownUuid, role: "team" }] }),
  "locations.updateMedia FileNotFoundError": on(location, { items: [{ fileUuid: unknownUuid, role: "team" }] }),
  "locations.updateTranslationLabels InvalidLocaleError": on(location, {
    translationLabels: [{ key: "name", locale: unknownLocale, label: "A" }]
  }),
  "locations.updateUsers UserNotFoundError": on(location, { users: [unknownUuid] }),
  "locations.updateGroups GroupNotFoundError": on(location, { groups: [unknownUuid] }),
  "groups.create DuplicateGroupNameError": body(takenName),
  "groups.create UserNotFoundError": post({ name: unique("Group"), users: [unknownUuid] }),
  "groups.create LocationNotFoundError": post({ name: unique("Group"), locations: [unknownUuid] }),
  "groups.update DuplicateGroupNameError": on(group, takenName),
  "groups.update UserNotFoundError": on(group, { users: [unknownUuid] }),
  "groups.update LocationNotFoundError": on(group, { locations: [unknownUuid] }),
  "groups.updateUsers UserNotFoundError": on(group, { users: [unknownUuid] }),
  "groups.updateLocations LocationNotFoundError": on(group, { locations: [unknownUuid] }),
  "uploads.complete FileNotFoundError": post({ uuid: unknownUuid, parts: [{ partNumber: 1, eTag: "a" }] }),
  "assets.create FileNotFoundError": post({ fileUuid: unknownUuid }),
  "assets.create InvalidAssetCategoriesError": body(
    Effect.map(file, (fileUuid) => ({ fileUuid, categories: ["none"] }))
  ),
  "assets.create InvalidLocaleError": body(Effect.map(file, (fileUuid) => ({ fileUuid, translations: named }))),
  "assets.create MetaTagValidationError": body(
    Effect.map(file, (fileUuid) => ({ fileUuid, metaTags: [{ key: "none", value: 1 }] }))
  ),
  "assets.search InvalidAssetCategoriesError": ask("?category=none"),
  "assets.search InvalidLocaleError": ask(`?locale=${unknownLocale}`),
  "assets.listMetaTags InvalidAssetCategoriesError": ask("?category=none"),
  "assets.listMetaTags InvalidLocaleError": ask(`?locale=${unknownLocale}`),
  "assets.update FileNotFoundError": on(asset, { fileUuid: unknownUuid }),
  "assets.update InvalidAssetCategoriesError": on(asset, { categories: ["none"] }),
  "assets.update InvalidLocaleError": on(asset, { translations: named }),
  "assets.delete AssetInUseError": on(inUse),
  "assets.getMetaTags InvalidLocaleError": Effect.map(asset, (uuid) => ({ uuid, query: `?locale=${unknownLocale}` })),
  "assets.updateMetaTags MetaTagValidationError": on(asset, { metaTags: [{ key: "none", value: 1 }] }),
  "posts.list InvalidLocaleError": ask(`?locale=${unknownLocale}`),
  "posts.get InvalidLocaleError": Effect.map(
    Effect.suspend(() => createPost()),
    (uuid) => ({ uuid, query: `?locale=${unknownLocale}` })
  ),
  ...Object.fromEntries(
    Object.entries(postErrors).flatMap(([error, fields]) => [
      [`posts.create ${error}`, post({ type: "news", translations: [translation()], ...fields })],
      [
        `posts.update ${error}`,
        on(
          Effect.suspend(() => createPost()),
          fields
        )
      ]
    ])
  ),
  "assetCategories.create InvalidAssetCategoriesError": post({ ...newCategory(), parentUuid: unknownUuid }),
  "assetCategories.create InvalidLocaleError": post({ ...newCategory(), translations: named }),
  "assetCategories.update InvalidAssetCategoriesError": on(category, { parentUuid: unknownUuid }),
  "assetCategories.update InvalidLocaleError": on(category, { translations: named }),
  "metaTags.create InvalidAssetCategoriesError": post({ ...newTag(), categories: ["none"] }),
  "metaTags.create InvalidLocaleError": post({ ...newTag(), translations: named }),
  "metaTags.update InvalidAssetCategoriesError": on(metaTag, { categories: ["none"] }),
  "metaTags.update InvalidLocaleError": on(metaTag, { translations: named })
}
