import { flood } from "./Floods.ts"

// The attacker has a process of its own, so that the latencies of its neighbour do not include its work.
const [url, path, key, connections, seconds] = process.argv.slice(2)
const statuses = await flood(url!, Number(connections), Number(seconds), () => ({ path: path!, key: key! }))
console.log(JSON.stringify([...statuses]))
