import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import { startErrorMessage } from "../../src/app/Startup.ts"

const caused = (message: string, operation: string, code?: string) => ({
  cause: Object.assign(new Error(message), { code }),
  operation
})

const messageOf = (reason: SqlError.SqlErrorReason) => startErrorMessage(new SqlError.SqlError({ reason }))

describe("the message of a start-up failure", () => {
  it("says that the database cannot be reached where there is no connection, whether or not DATABASE_URL is set", () => {
    for (const [message, reason] of [
      ["connect ECONNREFUSED", new SqlError.ConnectionError(caused("connect ECONNREFUSED", "connect"))],
      ["no such database", new SqlError.UnknownError(caused("no such database", "connect", "3D000"))],
      ["the server stops", new SqlError.UnknownError(caused("the server stops", "query", "57P01"))]
    ] as const) {
      assert.strictEqual(
        messageOf(reason),
        `Cannot reach the database: ${message}. Check that it runs and that DATABASE_URL, if it is set, is correct.`
      )
    }
  })

  it("says why none of the addresses of the database's host can be reached", () => {
    const refused = ["connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED 127.0.0.1:5432"]
    const cause = new AggregateError(refused.map((message) => new Error(message)))
    assert.strictEqual(
      messageOf(
        new SqlError.ConnectionError({ cause: new Error("Connection failed", { cause }), operation: "connect" })
      ),
      `Cannot reach the database: ${refused.join("; ")}. Check that it runs and that DATABASE_URL, if it is set, is correct.`
    )
  })

  it("says how a certificate of the database is accepted whose CA Node does not know", () => {
    const cause = caused("self-signed certificate in certificate chain", "connect", "SELF_SIGNED_CERT_IN_CHAIN")
    assert.strictEqual(
      messageOf(new SqlError.ConnectionError(cause)),
      "The certificate of the database is not accepted: self-signed certificate in certificate chain. " +
        "If its CA is not public, such as that of a provider, set NODE_EXTRA_CA_CERTS in the environment to the file of the CA."
    )
  })

  it("says what the database answered to a statement, such as a missing right or a full disk", () => {
    for (const [message, reason] of [
      ["permission denied", new SqlError.AuthorizationError(caused("permission denied", "query", "42501"))],
      ["no space left", new SqlError.UnknownError(caused("no space left", "query", "53100"))]
    ] as const) {
      assert.strictEqual(messageOf(reason), `The database answered with an error: ${message}.`)
    }
  })
})
