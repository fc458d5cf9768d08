import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Console, Effect, Layer, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { verify } from "../../services/webhooks/Signature.ts"
import { CommandError } from "../Failures.ts"

/** Prints a request, and answers 400 unless its signature is right. */
const receive = (secret: Option.Option<Redacted.Redacted>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = yield* request.text
    const {
      "webhook-id": id = "",
      "webhook-timestamp": time = "",
      "webhook-signature": signatures = ""
    } = request.headers
    const now = (yield* Clock.currentTimeMillis) / 1000
    const isVerified = Option.map(secret, (value) =>
      verify({ id, seconds: Number(time), body, signatures }, { secret: Redacted.value(value), now })
    )
    const verdict = Option.match(isVerified, {
      onNone: () => "not verified, without --secret",
      onSome: (right) => (right ? "signature verified" : "WRONG SIGNATURE")
    })
    yield* Console.log(`${request.method} ${request.url} ${id} (${verdict})\n${body}`)
    return HttpServerResponse.empty({ status: Option.getOrElse(isVerified, () => true) ? 204 : 400 })
  }).pipe(Effect.orElseSucceed(() => HttpServerResponse.empty({ status: 400 })))

/** `waypost webhooks listen` */
const listen = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("The port, on 127.0.0.1 only"), Flag.withDefault(4000)),
    secret: Flag.Redacted("secret").pipe(
      Flag.withDescription("The secret that the creation of the webhook answered: whsec_…"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ port, secret }) {
    if (Option.exists(secret, (value) => !Redacted.value(value).startsWith("whsec_"))) {
      return yield* new CommandError({ message: "A secret begins with whsec_" })
    }
    const serving = HttpServer.serve(receive(secret)).pipe(
      Layer.provide(
        Layer.effectDiscard(
          Console.log(
            `Listening on http://127.0.0.1:${port}; the service needs WEBHOOK_ALLOW_HTTP and WEBHOOK_ALLOW_PRIVATE`
          )
        )
      ),
      Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port }))
    )
    return yield* Effect.mapError(
      Layer.launch(serving),
      () => new CommandError({ message: `Cannot listen on port ${port}; choose another with --port` })
    )
  })
).pipe(
  Command.withDescription(
    "Receive webhooks on this machine, verify their signatures and print them. For developing a receiver."
  ),
  Command.withExamples([{ command: "waypost webhooks listen --port 4000 --secret whsec_…" }])
)

/** `waypost webhooks` */
export const command = Command.make("webhooks").pipe(
  Command.withDescription("Tools for receivers of webhooks"),
  Command.withExamples([{ command: "waypost webhooks listen --secret whsec_…" }]),
  Command.withSubcommands([listen])
)
