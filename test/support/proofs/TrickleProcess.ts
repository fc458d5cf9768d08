import { setTimeout as sleep } from "node:timers/promises"
import { converse, head } from "./Sockets.ts"

// The attacker has a process of its own, so that the times of its neighbour do not include its work.
const [seconds, connections, fileSize, ...urls] = process.argv.slice(2)
const until = performance.now() + Number(seconds) * 1000
const piece = Buffer.alloc(2048, "a")
const statuses = new Map<string, number>()

const trickle = async (_: unknown, index: number) => {
  const { origin, pathname, search } = new URL(urls[index % urls.length]!)
  const { text } = await converse(origin, async (socket, heard) => {
    socket.write(head("PUT", `${pathname}${search}`, "", `Content-Length: ${fileSize}`))
    while (performance.now() < until && !socket.destroyed && heard() === "") {
      socket.write(piece)
      await sleep(1000)
    }
    socket.destroy()
  })
  const status = text.slice(9, 12) || "none"
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
}

await Promise.all(Array.from({ length: Number(connections) }, trickle))
console.log(JSON.stringify([...statuses]))
