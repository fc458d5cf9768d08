// The part of autocannon that the benchmark and the proofs use; the package has no types of its own.
declare module "autocannon" {
  import type { EventEmitter } from "node:events"

  export interface Request {
    readonly method?: string
    readonly path?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    /** Called before each time the request is sent. */
    readonly setupRequest?: (request: Request) => Request
  }

  export interface Client {
    setRequests(requests: ReadonlyArray<Request>): void
    /** The current connection. */
    readonly conn: object
    on(event: "headers", run: (head: { statusCode: number; headers: ReadonlyArray<string> }) => void): this
    on(event: "body", run: (body: Buffer) => void): this
    on(event: "response", run: (status: number, bytes: number, milliseconds: number) => void): this
  }

  export interface Result {
    readonly errors: number
    readonly timeouts: number
  }

  export interface Options {
    readonly url: string
    readonly connections: number
    readonly duration?: number
    /** The number of responses to wait for, instead of a duration. */
    readonly amount?: number
    /** Requests per second over all connections. */
    readonly overallRate?: number
    readonly sampleInt?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly setupClient?: (client: Client) => void
  }

  export default function autocannon(
    options: Options,
    done: (error: Error | null, result: Result) => void
  ): EventEmitter
}
