import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

// Preloaded into the service by the soak proof: on SIGUSR2 it collects garbage and prints the heap size.
setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

process.on("SIGUSR2", () => {
  collect()
  collect()
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`)
})
