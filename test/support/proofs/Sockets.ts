import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** The data that one socket received. */
export interface Heard {
  /** All received data. */
  readonly text: string
  /** Milliseconds from connect to close. */
  readonly milliseconds: number
  readonly bytesWritten: number
}

export interface Head {
  readonly status: number
  readonly body: string
}

/** The responses in received data; a response without Content-Length counts as empty. */
export const answersIn = (text: string): ReadonlyArray<Head> => {
  const answers: Array<Head> = []
  for (let at = text.indexOf("HTTP/1.1 "); at !== -1; at = text.indexOf("HTTP/1.1 ", at)) {
    const end = text.indexOf("\r\n\r\n", at)
    if (end === -1) return answers
    const length = Number(/^content-length: (\d+)/im.exec(text.slice(at, end))?.[1] ?? 0)
    answers.push({ status: Number(text.slice(at + 9, at + 12)), body: text.slice(end + 4, end + 4 + length) })
    at = end + 4 + length
  }
  return answers
}

/** The `_tag` of a response, if it has an envelope. */
export const tagOf = ({ body }: Head): string | undefined => {
  try {
    return JSON.parse(body)._tag
  } catch {
    return undefined
  }
}

/** Opens a socket, lets `talk` write to it and resolves once either side has closed it. */
export const converse = (url: string, talk: (socket: Socket, heard: () => string) => Promise<void>): Promise<Heard> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const began = performance.now()
    let text = ""
    const socket = connect(Number(port), hostname, () => void talk(socket, () => text))
    socket.setNoDelay(true)
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    // A server that responded and closed may reset the connection while data is still being sent.
    socket.on("error", () => undefined)
    socket.on("close", () =>
      resolve({ text, milliseconds: performance.now() - began, bytesWritten: socket.bytesWritten })
    )
  })

/** How to send bytes that may not be a valid request. */
export interface Sending {
  /** Milliseconds to wait for a response: an incomplete request gets none. */
  readonly patience: number
  /** Half-closes the connection right after the bytes, or when no response came in time. */
  readonly closes?: "at once" | "unanswered"
  /** Sends only this many bytes, then resets the connection. */
  readonly abortAt?: number
}

/** Sends bytes on a new connection; returns the received text and the responses in it. */
export const exchange = async (url: string, bytes: Buffer, { abortAt, closes, patience }: Sending) => {
  const { text } = await converse(url, async (socket, heard) => {
    const wait = async () => {
      for (let waited = 0; waited < patience && !socket.destroyed && heard() === ""; waited += 10) await sleep(10)
    }
    if (closes === "at once") socket.end(bytes)
    else socket.write(bytes.subarray(0, abortAt))
    await wait()
    if (closes === "unanswered" && heard() === "") {
      socket.end()
      await wait()
    }
    if (abortAt !== undefined) return void socket.resetAndDestroy()
    // Leave time for a second response.
    await sleep(10)
    socket.destroy()
  })
  return { text, answers: answersIn(text) }
}

/** Writes `piece` every `pause` milliseconds until the socket is closed. */
export const trickle = async (socket: Socket, piece: string, pause: number) => {
  while (!socket.destroyed && socket.writable) {
    socket.write(piece)
    await sleep(pause)
  }
}

/** The head of a request with the key. */
export const head = (method: string, path: string, key: string, ...lines: ReadonlyArray<string>) =>
  `${[`${method} ${path} HTTP/1.1`, "Host: waypost.test", `Authorization: ${key}`, ...lines].join("\r\n")}\r\n\r\n`
