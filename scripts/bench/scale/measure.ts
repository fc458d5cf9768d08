import { Agent, request } from "node:http"
import type { Case, Side } from "./cases.ts"
import { median } from "../report.ts"

/** The cost of requests, in milliseconds and bytes. */
interface Cost {
  readonly p50: number
  readonly p99: number
  /** The median length of the bodies. */
  readonly bytes: number
}

/** The cost of a case at one size. */
export interface Timing extends Cost {
  readonly size: number
  /** The total of the first request. */
  readonly hits: number
  readonly requests: number
  /** Why it has no time: a response other than 200. */
  readonly failure?: string
  /** What the requests cost that it is compared with. */
  readonly against?: Cost
}

export interface Measured {
  readonly asked: Case
  readonly timings: ReadonlyArray<Timing>
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Requests are sequential: this measures the latency of one client, without contention between clients. */
const ask = ({ key, service }: Side, path: string) =>
  new Promise<{ readonly status: number; readonly body: string; readonly milliseconds: number }>((resolve, reject) => {
    const began = performance.now()
    request(service.url + path, { agent, headers: { authorization: key } }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text))
      response.on("end", () => resolve({ status: response.statusCode!, body, milliseconds: performance.now() - began }))
    })
      .on("error", reject)
      .end()
  })

/** The limits of one turn; a turn sends at least one request. */
const turn = { milliseconds: 150, requests: 24 }

const hitsOf = (body: string) => Number(/"pagination":\{[^}]*"total":(\d+)/.exec(body)?.[1] ?? 1)

/** Equivalent requests and what they have cost so far. */
const queueOf = (paths: ReadonlyArray<string>) => ({
  paths,
  next: 0,
  times: new Array<number>(),
  bytes: new Array<number>()
})

const costOf = ({ bytes, times }: ReturnType<typeof queueOf>): Cost => {
  const sorted = times.toSorted((one, two) => one - two)
  return {
    p50: sorted.length === 0 ? NaN : median(sorted),
    p99: sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? NaN,
    bytes: bytes.length === 0 ? NaN : median(bytes)
  }
}

/**
 * Measures a case at all sizes in turns, so that a busy moment of the machine affects all of them, and what it is compared
 * with. The first response of each is not counted: it includes planning and reading pages from the disk.
 */
export const measure = async (
  sides: ReadonlyArray<Side>,
  cases: ReadonlyArray<Case>,
  rounds: number
): Promise<Measured> => {
  const states = sides.map((side, index) => {
    const { against, paths } = cases[index]!
    const own = queueOf(paths)
    const other = against && queueOf(against.paths)
    return { side, own, other, hits: 0, failure: undefined as string | undefined }
  })
  for (let round = 0; round <= rounds; round++) {
    for (let place = 0; place < states.length; place++) {
      const state = states[(round + place) % states.length]!
      const began = performance.now()
      const max = round === 0 ? 1 : turn.requests
      for (
        let sent = 0;
        sent < max && performance.now() - began < turn.milliseconds && state.failure === undefined;
        sent++
      ) {
        for (const queue of state.other === undefined ? [state.own] : [state.own, state.other]) {
          const path = queue.paths[queue.next++ % queue.paths.length]!
          const { body, milliseconds, status } = await ask(state.side, path)
          if (status !== 200)
            state.failure = `${status} after ${Math.round(milliseconds)} ms: ${path} ${body.slice(0, 200)}`
          else if (round > 0) {
            queue.times.push(milliseconds)
            queue.bytes.push(Buffer.byteLength(body))
          } else if (queue === state.own) state.hits = hitsOf(body)
        }
      }
    }
  }
  const timings = states.map(({ failure, hits, other, own, side }): Timing => ({
    size: side.size,
    hits,
    ...costOf(own),
    requests: own.times.length,
    ...(failure === undefined ? {} : { failure }),
    ...(other === undefined ? {} : { against: costOf(other) })
  }))
  return { asked: cases[0]!, timings }
}
