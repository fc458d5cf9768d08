import { Agent, request } from "node:http"
import type { Case, Side } from "./cases.ts"
import { median } from "../report.ts"

/** The latency of a case at one size, in milliseconds. */
export interface Timing {
  readonly size: number
  /** The total of the first request. */
  readonly hits: number
  readonly p50: number
  readonly p99: number
  readonly requests: number
  /** Why it has no time: a response other than 200. */
  readonly failure?: string
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

/**
 * Measures a case at all sizes in turns, so that a busy moment of the machine affects all of them. The first response of
 * each is not counted: it includes planning and reading pages from the disk.
 */
export const measure = async (
  sides: ReadonlyArray<Side>,
  cases: ReadonlyArray<Case>,
  rounds: number
): Promise<Measured> => {
  const states = sides.map((side, index) => ({
    side,
    paths: cases[index]!.paths,
    next: 0,
    hits: 0,
    times: new Array<number>(),
    failure: undefined as string | undefined
  }))
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
        const path = state.paths[state.next++ % state.paths.length]!
        const { body, milliseconds, status } = await ask(state.side, path)
        if (status !== 200)
          state.failure = `${status} after ${Math.round(milliseconds)} ms: ${path} ${body.slice(0, 200)}`
        else if (round === 0) state.hits = hitsOf(body)
        else state.times.push(milliseconds)
      }
    }
  }
  const timings = states.map(({ failure, hits, side, times }): Timing => {
    const sorted = times.toSorted((one, two) => one - two)
    return {
      size: side.size,
      hits,
      p50: sorted.length === 0 ? NaN : median(sorted),
      p99: sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? NaN,
      requests: times.length,
      ...(failure === undefined ? {} : { failure })
    }
  })
  return { asked: cases[0]!, timings }
}
