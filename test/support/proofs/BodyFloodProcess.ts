import { readFileSync } from "node:fs"
import { readJson } from "./BodyFlood.ts"

// The attacker has a process of its own, so that the latencies of its neighbours do not include its work.
const { connections, files, key, removeWith, seconds, type, url } = readJson(process.argv[2]!)
const bodies = files.map((file) => readFileSync(file))
const statuses = new Map<number, number>()
const end = performance.now() + seconds * 1000
let number = 0
const send = async () => {
  while (performance.now() < end) {
    const body = bodies[number++ % bodies.length]!
    const answer = await fetch(url, { method: "POST", headers: { authorization: key, "content-type": type }, body })
    const text = await answer.text()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status !== 201) continue
    const created = new URL(`${new URL(url).pathname}/${JSON.parse(text).data.uuid}`, url)
    await fetch(created, { method: "DELETE", headers: { authorization: removeWith } })
  }
}
await Promise.all(Array.from({ length: connections }, send))
console.log(JSON.stringify([...statuses]))
