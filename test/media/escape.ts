import { readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import * as Identity from "../../src/media/renderer/Identity.ts"

// Runs in place of the program that decodes. Of each job it reports what it can do: read the file of the job and another
// file, write outside of its folder, and connect to a port of this machine.
Identity.assume(process.argv)

const [outside, port] = [process.argv[1]!.replace("escape.ts", "Rendering.ts"), Number]
const outcome = (run: () => void) => {
  try {
    run()
    return "done"
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error)
  }
}

process.stdout.write("ready\n")
createInterface({ input: process.stdin }).on("line", (line) => {
  const { mimeType, path } = JSON.parse(line) as { readonly mimeType: string; readonly path: string }
  const socket = connect(port(mimeType), "127.0.0.1")
  const answer = (connected: string) => {
    socket.destroy()
    const reason = JSON.stringify({
      own: outcome(() => readFileSync(path)),
      passwd: outcome(() => readFileSync("/etc/passwd")),
      outside: outcome(() => readFileSync(outside)),
      write: outcome(() => writeFileSync(`${outside}.escaped`, "")),
      connected,
      user: process.getuid?.()
    })
    process.stdout.write(`${JSON.stringify({ _tag: "Refused", reason })}\n`)
  }
  socket.on("connect", () => answer("done")).on("error", (error: NodeJS.ErrnoException) => answer(error.code ?? ""))
})
