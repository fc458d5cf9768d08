import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import type * as HttpApiModule from "effect/http-api"
import { vi } from "vitest"

vi.mock("effect/http-api", async (original) => {
  const module = await original<typeof HttpApiModule>()
  return { ...module, OpenApi: { ...module.OpenApi, fromApi: vi.fn<typeof OpenApi.fromApi>(module.OpenApi.fromApi) } }
})

describe("importing the service", () => {
  it("builds no OpenAPI document and leaves no listener on the process", async () => {
    const listeners = process.listenerCount("exit")
    await import("../../src/app/Service.ts")
    assert.lengthOf(vi.mocked(OpenApi.fromApi).mock.calls, 0)
    assert.strictEqual(process.listenerCount("exit"), listeners)

    const { openApi } = await import("../../src/api/Api.ts")
    openApi()
    assert.lengthOf(vi.mocked(OpenApi.fromApi).mock.calls, 1)
  })
})
