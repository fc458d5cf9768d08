import { randomBytes } from "node:crypto"
import { Agent, get } from "node:http"
import * as ApiKeySecret from "../../../src/domain/keys/ApiKeySecret.ts"

// Sends keys that do not exist over many connections, from an address of its own, as fast as they are answered.
const [url, connections, seconds, localAddress] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const statuses = new Map<number, number>()
const until = performance.now() + Number(seconds) * 1000

const ask = () =>
  new Promise<number>((resolve) => {
    const { key } = ApiKeySecret.format(randomBytes(16), randomBytes(32))
    const options = { agent, localAddress: localAddress!, headers: { authorization: key } }
    get(`${url}/v1/me`, options, (response) => {
      response.resume()
      response.on("close", () => resolve(response.statusCode ?? 0))
    }).on("error", () => resolve(0))
  })

const repeat = async () => {
  while (performance.now() < until) {
    const status = await ask()
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
}

await Promise.all(Array.from({ length: Number(connections) }, repeat))
console.log(JSON.stringify([...statuses]))
process.exit()
