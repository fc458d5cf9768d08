import { Effect } from "effect"
import { randomOf } from "../Random.ts"
import { operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import type { Field } from "../../../src/domain/query/FilterFields.ts"
import { problemOf, type Shot } from "./FuzzAnswers.ts"
import * as Corpus from "./FuzzCorpus.ts"
import * as Records from "./FuzzRecords.ts"
import { Wire } from "./Wire.ts"

const batch = 50
const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** The outcome of a run. */
export interface Outcome {
  readonly count: number
  /** The number of responses per status. */
  readonly seen: ReadonlyMap<number, number>
  /** The first request for each kind of problem, at most twenty. */
  readonly problems: ReadonlyArray<string>
}

/**
 * Sends valid and invalid requests generated from the schemas of every operation, and checks every response. Apart from
 * uuids, the same seed generates the same requests.
 */
export const fuzz = Effect.fnUntraced(function* (seed: number, wanted: number) {
  const { key, send } = yield* Wire
  const random = randomOf(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const chance = (probability: number) => random() < probability
  const pick = <A>(list: ReadonlyArray<A>) => list[below(list.length)]!
  const targets = yield* Corpus.targets(60, seed)
  const records = yield* Records.make(seed)
  const weakKey = yield* key(["read:groups"])

  const mutate = (text: string) => {
    const start = below(text.length + 1)
    const end = chance(0.5) ? start : Math.min(text.length, start + below(8))
    return text.slice(0, start) + (chance(0.8) ? pick(Corpus.tokens) : "") + text.slice(end)
  }
  /** Replaces some uuids of a generated text with those of records. */
  const aimed = (text: string) => text.replaceAll(uuidPattern, (uuid) => (chance(0.5) ? pick(records.all()) : uuid))

  const valueOf = ({ kind, values }: Field): string => {
    if (kind === "enum" && chance(0.8)) return pick(values)
    if (kind === "uuid") return pick(records.all())
    return pick(Corpus.filterValues[kind])
  }
  const condition = (fields: ReadonlyArray<Field>) => {
    const field = pick(fields)
    return `${field.path}:${pick(operatorsOf[field.kind])}:"${valueOf(field).replaceAll(/[\\"]/g, "\\$&")}"`
  }
  const wild = (names: ReadonlyArray<string>) =>
    Array.from({ length: below(4) }, () => {
      const name = chance(0.9) && names.length > 0 ? pick(names) : pick(["q", "limt", "__proto__", "filter[]", ""])
      const value = chance(0.3) ? mutate(pick(Corpus.values)) : pick(Corpus.values)
      return `${name}=${chance(0.9) ? encodeURIComponent(value.toWellFormed()) : value}`
    }).join("&")
  const query = ({ fields, queries, query: names }: Corpus.Target) => {
    // An operation without parameters rejects any before it does something.
    if (names.length === 0 && chance(0.9)) return ""
    if (queries.length === 0 || chance(0.4)) return wild(names)
    const { filter: _, ...valid } = pick(queries)
    const conditions = fields.length > 0 && chance(0.6) ? 1 + below(3) : 0
    const filter = Array.from({ length: conditions }, () => condition(fields)).join(",")
    return new URLSearchParams({ ...valid, ...(filter === "" ? {} : { filter }) }).toString()
  }
  const bodyOf = (bodies: ReadonlyArray<string>): string | Uint8Array => {
    const valid = aimed(pick(bodies))
    const body = chance(0.6) ? valid : mutate(valid)
    if (chance(0.95)) return body
    const bytes = Buffer.from(body)
    if (bytes.length > 0) bytes[below(bytes.length)] = below(256)
    return bytes
  }
  /** Escapes characters that Node's HTTP client rejects; the parser has separate tests. */
  const writable = (path: string) => path.replaceAll(/[^\u0021-\u007e]/gu, (c) => encodeURIComponent(c.toWellFormed()))
  const make = (): Shot => {
    const target = pick(targets)
    const method = chance(0.95) ? target.method : pick(["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"])
    const plain = target.path.replaceAll(/:\w+/g, () =>
      chance(0.7) ? pick(records.of(target.path)) : chance(0.5) ? pick(records.all()) : mutate(pick(records.all()))
    )
    const search = query(target)
    const path = (chance(0.96) ? plain : `/${mutate(plain.slice(1))}`) + (search === "" ? "" : `?${search}`)
    const headers = Object.fromEntries(
      Array.from({ length: chance(0.2) ? 1 + below(2) : 0 }, () => pick(Corpus.headers))
    )
    const withBody = target.bodies.length > 0 && method !== "GET" && method !== "HEAD"
    const sent = {
      headers,
      ...(chance(0.02) ? { key: weakKey } : {}),
      ...(withBody ? { body: bodyOf(target.bodies), chunked: chance(0.1) } : {})
    }
    return { method, path: writable(path), sent }
  }

  const problems = new Map<string, string>()
  const seen = new Map<number, number>()
  const shoot = Effect.fnUntraced(function* (shot: Shot) {
    const answer = yield* send(shot.method, shot.path, shot.sent)
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    const problem = yield* problemOf(shot, answer)
    if (problem !== undefined && !problems.has(problem) && problems.size < 20) {
      const asked = `${shot.method} ${shot.path} ${JSON.stringify(shot.sent)}`.slice(0, 1000)
      problems.set(problem, `${problem}: ${asked}\n  ${answer.status} ${answer.text.slice(0, 300)}`)
    }
    return { shot, answer }
  })
  let count = 0
  for (; count < wanted; count += batch) {
    const shots = Array.from({ length: batch }, make)
    const answered = yield* Effect.forEach(shots, shoot, { concurrency: 12 })
    for (const { answer, shot } of answered) records.note(shot.method, shot.path, answer)
  }
  return { count, seen, problems: [...problems.values()] } satisfies Outcome
})
