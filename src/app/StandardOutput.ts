import { Cause, Exit, type Runtime } from "effect"
import type { Writable } from "node:stream"
import { setImmediate, setTimeout } from "node:timers/promises"

/** How much of the log waits for its reader, in characters. */
const maxUnread = 8 * 1024 * 1024

const lostLine = (lines: number) =>
  `${JSON.stringify({
    message: `The log lacks lines before this one, because its reader was too slow: ${lines}`,
    level: "WARN",
    timestamp: new Date().toISOString()
  })}\n`

/**
 * Writes lines of the log. While much of it waits for its reader, lines are dropped and counted: a pipe whose reader hangs would use up the
 * memory of the machine, because Node keeps what a pipe has no room for.
 */
export const lineWriter = (stream: Writable) => {
  let lost = 0
  return (lines: string): void => {
    if (stream.writableLength > maxUnread) {
      lost += lines.split("\n").length - 1
      return
    }
    stream.write(lost === 0 ? lines : `${lostLine(lost)}${lines}`)
    lost = 0
  }
}

/** Waits until what was written to a stream has left this process, or cannot be written. */
const flush = (stream: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => {
    // Without a listener an error would end the process.
    stream.on("error", () => undefined)
    stream.write("", () => resolve())
  })

/** Waits until all output is written: `process.exit` drops what a pipe has no room for yet. */
export const written = async () => {
  // Lines of the log are written at the end of a turn of the event loop.
  await setImmediate()
  await Promise.all([flush(process.stdout), flush(process.stderr)])
}

/** Waits until all output is written, but not for a reader that takes nothing for two seconds. */
export const writtenInTime = () => Promise.race([written(), setTimeout(2000, undefined, { ref: false })])

/** Ends a process that runs until it is stopped. A requested stop is a success, even when it interrupts the program. */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  const code = Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? Number(process.exitCode ?? 0) : 1
  void writtenInTime().then(() => onExit(code))
}
