// The part of autocannon that the benchmark uses; the package has no types of its own.
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
  }

  export interface Result {
    readonly errors: number
    readonly timeouts: number
  }

  export interface Options {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly sampleInt?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly setupClient?: (client: Client) => void
  }

  export default function autocannon(
    options: Options,
    done: (error: Error | null, result: Result) => void
  ): EventEmitter
}
