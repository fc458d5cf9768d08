import { Cause, Exit, type Runtime } from "effect"
import { setImmediate, setTimeout } from "node:timers/promises"

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
