import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ReadsPrimary } from "./Limits.ts"
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyId,
  ApiKeyNotFoundError,
  ApiKeyRotate,
  sortable
} from "../domain/keys/ApiKey.ts"
import { requires } from "./Authorization.ts"
import { describe, group, operation } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { flag } from "./ListQuery.ts"
import * as Records from "./Records.ts"
import { needsNoKey, rejects } from "./writes/SafeWrites.ts"

const uuid = { uuid: ApiKeyId }
const descendants = flag("Also revokes every key that the key created, directly or through other keys.")
const created = Envelope.CreatedRecord(ApiKeyCreated)

/** The API keys, and the calling key. */
export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .annotate(ReadsPrimary, true)
  .add(
    HttpApiEndpoint.get("list", "/api-keys", Records.list(ApiKey, sortable)).pipe(
      operation(
        "read:api-keys",
        "List API keys",
        "A page of keys without their secrets, including revoked and expired ones."
      )
    ),
    HttpApiEndpoint.post("create", "/api-keys", {
      payload: ApiKeyCreate,
      success: created
    }).pipe(
      operation(
        "create:api-keys",
        "Create a new API key",
        "A key can only grant permissions that it has. A key that expires creates keys that expire with it or earlier; without `expiresAt` they expire with it. The secret is only in this response."
      ),
      rejects("Idempotency-Key", "validate-only")
    ),
    HttpApiEndpoint.get("get", "/api-keys/:uuid", Records.get(ApiKeyId, ApiKey, ApiKeyNotFoundError)).pipe(
      operation("read:api-keys", "Get an API key", "The key without its secret.")
    ),
    HttpApiEndpoint.delete("revoke", "/api-keys/:uuid", {
      ...Records.remove(ApiKeyId, ApiKeyNotFoundError),
      query: { descendants: Schema.optionalKey(descendants) }
    }).pipe(
      operation(
        "delete:api-keys",
        "Revoke an API key",
        "The key stops working within a second; it remains in lists. With `descendants=true`, every key that it created is revoked as well, and every key that those created; a rotation counts as a creation by the key that called it. Without an `Idempotency-Key`, thousands of keys are revoked in parts, the key itself with the first: when the answer is no 200, send the request again for the rest, without `If-Match`."
      ),
      rejects("validate-only"),
      // With a key, all parts would be one transaction, which may take too long each time.
      needsNoKey
    ),
    HttpApiEndpoint.post("rotate", "/api-keys/:uuid/rotate", {
      params: uuid,
      payload: ApiKeyRotate,
      success: created,
      error: ApiKeyNotFoundError
    }).pipe(
      operation(
        "create:api-keys",
        "Rotate an API key",
        "Creates a successor with the same permissions and expiry; the old key is valid until the overlap ends. The calling key must have every permission of the rotated one, and `delete:api-keys` as well to rotate another key with an overlap of less than a day. The successor expires with the calling key at the latest."
      ),
      rejects("Idempotency-Key", "validate-only")
    ),
    HttpApiEndpoint.get("me", "/me", {
      success: Envelope.One(ApiKey)
    }).pipe(
      requires(),
      describe("Get the calling API key", "The key of this request, without its secret. Needs no permission.")
    )
  )
  .prefix("/v1")
  .annotateMerge(group("API keys", "Keys have permissions that are fixed at creation.")) {}
