import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { unknownUuid } from "../support/requests/Requests.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
let count = 0

const create = Effect.gen(function* () {
  const { send } = yield* Wire
  const body = JSON.stringify({ name: "Branch", identifier: `wire-${++count}` })
  const answer = yield* send("POST", "/v1/locations", { body })
  return { answer, uuid: answer.body.data.uuid as string }
})

layer(listening(), { excludeTestServices: true })("locations on the wire", (it) => {
  it.effect("an update returns exactly the bytes of the interface specification", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { uuid } = yield* create
      const { headers, status, text } = yield* send("PATCH", `/v1/locations/${uuid}`, {
        body: `{"name":"Other","address":{"city":"Utrecht"}}`
      })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(text, `{"_tag":"Success","data":{"uuid":"${uuid}"}}`)
    })
  )

  it.effect("a create returns 201 and a delete 200, both with only the uuid", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { answer, uuid } = yield* create
      assert.strictEqual(answer.status, 201)
      assert.strictEqual(answer.headers["content-type"], "application/json")
      assert.match(uuid, uuidForm)
      assert.strictEqual(answer.text, `{"_tag":"Success","data":{"uuid":"${uuid}"}}`)
      const deleted = yield* send("DELETE", `/v1/locations/${uuid}`)
      assert.strictEqual(deleted.status, 200)
      assert.strictEqual(deleted.headers["content-type"], "application/json")
      assert.strictEqual(deleted.text, `{"_tag":"Success","data":{"uuid":"${uuid}"}}`)
    })
  )

  it.effect("a record has only the members that are set, and timestamps in milliseconds", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { uuid } = yield* create
      const { headers, status, text } = yield* send("GET", `/v1/locations/${uuid}`)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "application/json")
      const instant = String.raw`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`
      const own = `"uuid":"${uuid}","name":"Branch","identifier":"wire-${count}","postalCodes":[]`
      const members = `${own},"media":{"items":[]},"translationLabels":[]`
      assert.match(
        text,
        new RegExp(
          String.raw`^\{"_tag":"Success","data":\{${members.replaceAll(/[[{]/g, String.raw`\$&`)},"createdAt":${instant},"editedAt":${instant}\}\}$`
        )
      )
    })
  )

  it.effect("a list is an envelope with data and the four members of pagination", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { uuid } = yield* create
      const one = yield* send("GET", `/v1/locations/${uuid}`)
      const list = yield* send("GET", `/v1/locations?filter=identifier:equals:wire-${count}`)
      assert.strictEqual(list.status, 200)
      assert.strictEqual(list.headers["content-type"], "application/json")
      const record = one.text.slice(`{"_tag":"Success","data":`.length, -1)
      const pagination = `{"limit":25,"page":1,"total":1,"pageCount":1}`
      assert.strictEqual(list.text, `{"_tag":"Success","data":[${record}],"pagination":${pagination}}`)
    })
  )

  it.effect("each failure of an update has its status and its tag", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const { uuid } = yield* create
      const other = yield* create
      const path = `/v1/locations/${uuid}`
      const reader = yield* key(["read:locations"])
      const cases = [
        [400, "InvalidRequestError", path, { body: `{"name":7}` }],
        [400, "DuplicateIdentifierError", path, { body: JSON.stringify({ identifier: `wire-${count}` }) }],
        [400, "InvalidLocaleError", path, { body: `{"locale":"qq-QQ"}` }],
        [401, "UnauthorizedError", path, { body: "{}", key: null }],
        [403, "MissingPermissionsError", path, { body: "{}", key: reader }],
        [404, "LocationNotFoundError", `/v1/locations/${unknownUuid}`, { body: "{}" }]
      ] as const
      for (const [status, tag, target, sent] of cases) {
        const answer = yield* send("PATCH", target, sent)
        assert.strictEqual(answer.status, status, tag)
        assert.strictEqual(answer.headers["content-type"], "application/json")
        assert.strictEqual(answer.body._tag, tag)
        assert.isString(answer.body.message)
        assert.strictEqual(answer.headers["www-authenticate"], status === 401 ? "ApiKey" : undefined)
      }
      assert.match(other.uuid, uuidForm)
    })
  )
})
