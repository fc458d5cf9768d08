import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { limits, ofManyRecords, ReadsPrimary } from "../Limits.ts"
import { Delivery, deliveryStates, WebhookTest } from "../../domain/changes/Delivery.ts"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import {
  maxReplays,
  maxWaitingReplayed,
  maxWebhooks,
  PartialWebhook,
  Replay,
  Replayed,
  SecretRotate,
  SecretRotated,
  sortable,
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookId,
  WebhookNotFoundError
} from "../../domain/changes/Webhook.ts"
import { group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { after, limit } from "./EventQuery.ts"
import * as Records from "../Records.ts"
import { rejects } from "../writes/SafeWrites.ts"

const uuid = { uuid: WebhookId }
const needs = "The calling key needs the `read:` permission of every record type that the webhook receives."

/** The webhooks and their deliveries. */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .annotate(ReadsPrimary, true)
  .add(
    HttpApiEndpoint.get("list", "/", Records.list(Webhook, sortable)).pipe(
      operation("read:webhooks", "List webhooks", "A page of webhooks without their secrets.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: WebhookCreate,
      success: Envelope.CreatedRecord(WebhookCreated)
    }).pipe(
      operation(
        "create:webhooks",
        "Create a webhook",
        `Events of these types are sent to the URL from now on. The secret is only in this response. An installation has at most ${maxWebhooks} webhooks. ${needs}`
      ),
      rejects("Idempotency-Key")
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.get(WebhookId, Webhook, WebhookNotFoundError)).pipe(
      operation("read:webhooks", "Get a webhook", "The webhook without its secret.")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialWebhook,
      success: Envelope.Written(WebhookId),
      error: WebhookNotFoundError
    }).pipe(
      operation(
        "update:webhooks",
        "Update a webhook",
        `Absent members are unchanged, \`null\` clears \`description\`. To change \`url\` or \`types\` or to set \`active\` to \`true\`: ${needs.toLowerCase()}`
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(WebhookId, WebhookNotFoundError)).pipe(
      operation("delete:webhooks", "Delete a webhook", "Drops what is pending.")
    ),
    HttpApiEndpoint.post("rotateSecret", "/:uuid/rotate-secret", {
      params: uuid,
      payload: SecretRotate,
      success: Envelope.One(SecretRotated),
      error: WebhookNotFoundError
    }).pipe(
      operation(
        "update:webhooks",
        "Rotate the secret of a webhook",
        `Deliveries have a signature of the new and of the old secret until the overlap ends. The secret is only in this response. ${needs}`
      ),
      rejects("Idempotency-Key", "validate-only")
    ),
    HttpApiEndpoint.post("test", "/:uuid/test", {
      params: uuid,
      success: Envelope.One(WebhookTest),
      error: WebhookNotFoundError
    }).pipe(
      operation(
        "update:webhooks",
        "Test a webhook",
        `Sends an event of type \`webhook.updated\` about the webhook, with \`test: true\` in addition to \`data\`, and answers what was sent and what came back. ${needs}`
      ),
      rejects("Idempotency-Key", "validate-only")
    ),
    HttpApiEndpoint.get("deliveries", "/:uuid/deliveries", {
      params: uuid,
      query: {
        after,
        limit: limit(50),
        state: Schema.optionalKey(
          Schema.Literals(deliveryStates).annotate({ description: "Only attempts and deliveries in this state." })
        )
      },
      success: Envelope.CursorPage(Delivery),
      error: [WebhookNotFoundError, CursorExpiredError]
    }).pipe(
      operation(
        "read:webhooks",
        "List deliveries",
        "The attempts of the last 30 days, newest first, and the deliveries that are pending."
      )
    ),
    HttpApiEndpoint.post("replay", "/:uuid/replay", {
      params: uuid,
      payload: Replay,
      success: Envelope.One(Replayed).pipe(HttpApiSchema.status(202)),
      error: [WebhookNotFoundError, CursorExpiredError]
    }).pipe(
      operation(
        "update:webhooks",
        "Send events again",
        `Sends events of the log again, of those that the webhook receives; give exactly one member. After \`resumeCursor\`, it sends what was missed while the webhook was paused or failing. A webhook has at most ${maxReplays} replays that have not ended, and at most ${maxWaitingReplayed} replayed events that wait with those of \`eventIds\`. ${needs}`
      ),
      rejects("validate-only"),
      limits(ofManyRecords)
    )
  )
  .prefix("/v1/webhooks")
  .annotateMerge(
    group("Webhooks", "Events of the log, signed and sent to a URL, in the order of each record and at least once.")
  ) {}
