import { assert, describe, it } from "vitest"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../support/Programs.ts"
import { filesBelow } from "../support/requests/UploadRequests.ts"
import { tally } from "../support/Tally.ts"
import { report } from "../support/proofs/Figures.ts"
import { descriptorsOf } from "../support/proofs/Load.ts"
import { mutatorOf } from "./Mutations.ts"
import * as Running from "../support/proofs/Running.ts"
import { exchange, head, tagOf } from "../support/proofs/Sockets.ts"

const seed = 5_000_007
const requests = 5000
const atOnce = 50
const sessions = 25
const patience = 300

describe("malformed part uploads", () => {
  it(
    "5,000 randomly mutated part uploads succeed or get a 4xx, and leave no files behind",
    { timeout: 120_000 },
    async (ctx) => {
      await using running = await Running.start()
      const { call, folder, pid, url } = running
      const { below, mutate, pick } = mutatorOf(seed)
      const files = join(folder, "files")
      const begun = await Promise.all(
        Array.from({ length: sessions }, async (_, number) => {
          const fileSize = pick([1, 50, 1000, 20_000])
          const { body } = await call("POST", "/v1/uploads/init-multi-part", { fileName: `${number}.bin`, fileSize })
          const { pathname, search } = new URL(body.data.parts[0].url)
          return { uuid: body.data.uuid as string, path: `${pathname}${search}`, bytes: randomBytes(fileSize) }
        })
      )
      const whole = begun.flatMap(({ bytes, path }) => [
        Buffer.concat([Buffer.from(head("PUT", path, "", `Content-Length: ${bytes.length}`)), bytes]),
        Buffer.concat([
          Buffer.from(head("PUT", path, "", "Transfer-Encoding: chunked")),
          Buffer.from(`${bytes.length.toString(16)}\r\n`),
          bytes,
          Buffer.from("\r\n0\r\n\r\n")
        ])
      ])
      await sleep(6500)
      // The service opens connections to the database as it needs them.
      const descriptors = async () => descriptorsOf(pid) - (await Running.backendsOf(running))
      const descriptorsBefore = await descriptors()

      const statuses: Array<number> = []
      const wrong: Array<string> = []
      let closed = 0
      const send = async (bytes: Buffer, abortAt: number | undefined) => {
        const sending = abortAt === undefined ? { patience } : { patience: below(20), abortAt }
        const { answers, text } = await exchange(url, bytes, sending)
        const [answer] = answers
        if (answer === undefined) return closed++
        statuses.push(answer.status)
        const isAccepted = answer.status === 200 || answer.status === 204
        const isRejected = answer.status >= 400 && answer.status < 500 && tagOf(answer) !== undefined
        if (!isAccepted && !isRejected)
          wrong.push(`${JSON.stringify(bytes.subarray(0, 400).toString("latin1"))} -> ${JSON.stringify(text)}`)
        return undefined
      }
      const queue = Array.from({ length: requests }, () => {
        const [bytes, aborts] = [pick(whole), below(4) === 0]
        // Half of the time only the body is mutated, because a request with a mutated URL never reaches the disk.
        const body = bytes.indexOf("\r\n\r\n") + 4
        const broken =
          below(2) === 0 ? mutate(bytes) : Buffer.concat([bytes.subarray(0, body), mutate(bytes.subarray(body))])
        return [broken, aborts ? below(broken.length) : undefined] as const
      })
      await inTurns(queue, atOnce, ([bytes, abortAt]) => send(bytes, abortAt))
      await sleep(6500)
      const temporary = filesBelow(join(files, "temporary"))
      const descriptorsAfter = await descriptors()
      for (const { uuid } of begun) assert.include([200, 204], (await call("DELETE", `/v1/uploads/${uuid}`)).status)
      const leftover = filesBelow(files)

      await report(ctx, {
        requests,
        seed: String(seed),
        answers: tally(statuses),
        "closed without response": closed,
        "temporary files": temporary.length,
        "files left": leftover.length,
        descriptors: `${descriptorsBefore} to ${descriptorsAfter}`
      })
      assert.deepStrictEqual(wrong, [])
      assert.isAtLeast(statuses.filter((status) => status === 200).length, requests / 20)
      assert.deepStrictEqual(temporary, [])
      assert.deepStrictEqual(leftover, [])
      assert.isAtMost(descriptorsAfter, descriptorsBefore)
    }
  )
})
