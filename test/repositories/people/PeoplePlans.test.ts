import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Group } from "../../../src/domain/people/Group.ts"
import { User } from "../../../src/domain/people/User.ts"
import { parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { Groups } from "../../../src/repositories/people/Groups.ts"
import { Memberships } from "../../../src/repositories/people/Memberships.ts"
import { Users } from "../../../src/repositories/people/Users.ts"
import { filled, keptPlans } from "../../sql/Explained.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"

const rows = 20_000

const fill = [
  `insert into users (uuid, username, email, last_name, status, role, language_code)
    select gen_random_uuid(), 'user-' || md5(i::text), md5('e' || i) || '@example.com', 'Name ' || md5('n' || i),
      'active', 'ROLE_USER', 'en' from generate_series(1, ${rows}) i`,
  `insert into groups (uuid, name) select gen_random_uuid(), 'Group ' || md5(i::text) from generate_series(1, ${rows}) i`,
  "vacuum analyze users",
  "vacuum analyze groups"
]

const services = Layer.mergeAll(Users.layer, Groups.layer).pipe(
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(filled(fill)),
  Layer.provide([publicUrl, settings()])
)

layer(services, { excludeTestServices: true })("query plans with many users and groups", (it) => {
  it.effect.each(["username:contains:a1b2c3d", "email:startsWith:0f3a1b2", "lastName:endsWith:c0f3a1b"])(
    "the filter %s of users is planned once, and not for each request",
    (filter) =>
      Effect.gen(function* () {
        const users = yield* Users
        const request = { filter: Result.getOrThrow(parse(fieldsOf(User), filter)) }
        assert.isAtLeast(yield* keptPlans(users.list(request)), 6)
      })
  )

  it.effect.each(["name:contains:a1b2c3d", "name:startsWith:group 0f3a1b2", "name:endsWith:c0f3a1b"])(
    "the filter %s of groups is planned once, and not for each request",
    (filter) =>
      Effect.gen(function* () {
        const groups = yield* Groups
        const request = { filter: Result.getOrThrow(parse(fieldsOf(Group), filter)) }
        assert.isAtLeast(yield* keptPlans(groups.list(request)), 6)
      })
  )
})
