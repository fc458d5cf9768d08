import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac, createSecretKey, hash, timingSafeEqual } from "node:crypto"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { EventLog } from "../../repositories/changes/EventLog.ts"
import { SignedUrls } from "../SignedUrls.ts"

/** A place in something of which the log is only a part: the delta of a resource. */
export interface OwnPlace {
  readonly owner: string
  readonly place: string
}

/** The content of a cursor: a position in the log. */
export interface CursorContent {
  /** The position of the last event that was read; 0 before the first. */
  readonly position: number
  /** What else the cursor belongs to, and where it stands there. */
  readonly own?: OwnPlace
}

/**
 * Cursors: positions in the log as clients keep them, opaque and signed. A cursor names its generation of the log, so that
 * that of another installation, or of a future that a restored backup does not have, is recognized.
 *
 * The bytes are the generation (16), the position (8), the place, a signature (12), and a checksum of all (4), which finds
 * a changed cursor before its generation is looked up.
 */
export class Cursors extends Context.Service<
  Cursors,
  {
    encode(content: CursorContent): string
    /** An absent or empty cursor is the oldest retained position. One that belongs to another owner is invalid. */
    decode(
      cursor: string | undefined,
      owner?: string
    ): Effect.Effect<CursorContent, InvalidRequestError | CursorExpiredError>
  }
>()("waypost/services/changes/Cursors") {
  static readonly layer = Layer.effect(
    Cursors,
    Effect.gen(function* () {
      const log = yield* EventLog
      // An HMAC with a key object takes a sixth of the time.
      const secret = createSecretKey(Redacted.value((yield* SignedUrls).derivedKey("cursors")))
      let generations = yield* log.generations
      let current = bytesOf(generations.at(-1)!.id)
      const sign = (content: Uint8Array) => createHmac("sha256", secret).update(content).digest().subarray(0, 12)

      const encode = ({ own, position }: CursorContent) => {
        const place = own === undefined ? "" : `${own.owner} ${own.place}`
        const end = 24 + Buffer.byteLength(place)
        const cursor = Buffer.allocUnsafe(end + 16)
        cursor.set(current)
        cursor.writeBigUInt64BE(BigInt(position), 16)
        cursor.write(place, 24)
        cursor.set(sign(cursor.subarray(0, end)), end)
        cursor.set(checksum(cursor.subarray(0, end + 12)), end + 12)
        return cursor.toString("base64url")
      }

      const generationOf = (id: string) => generations.findIndex((generation) => generation.id === id)

      const decode = Effect.fnUntraced(function* (cursor: string | undefined, owner = "") {
        const { last, pruned } = yield* log.retained
        if (cursor === undefined || cursor === "") return { position: pruned }
        const bytes = Buffer.from(cursor, "base64url")
        const [content, mac] = [bytes.subarray(0, -16), bytes.subarray(-16, -4)]
        const isWhole =
          bytes.length >= 40 &&
          bytes.toString("base64url") === cursor &&
          checksum(bytes.subarray(0, -4)).equals(bytes.subarray(-4))
        if (!isWhole) return yield* malformed
        const id = uuidOf(content.subarray(0, 16))
        // Another process may have restored a backup since.
        if (generationOf(id) === -1) {
          generations = yield* log.generations
          current = bytesOf(generations.at(-1)!.id)
        }
        const generation = generationOf(id)
        if (generation === -1) return yield* elsewhere
        if (!timingSafeEqual(mac, sign(content))) return yield* malformed
        const position = Number(content.readBigUInt64BE(16))
        const [own = "", ...place] = content.subarray(24).toString().split(" ")
        if (own !== owner) return yield* foreign
        const end = generations[generation + 1]?.afterPosition
        if (position > (end ?? (owner === "" ? last : Infinity))) return yield* restored
        if (owner !== "") return { position, own: { owner, place: place.join(" ") } }
        if (position < pruned) return yield* expired(encode({ position: pruned }))
        return { position }
      })

      return Cursors.of({ encode, decode })
    })
  )
}

const checksum = (bytes: Uint8Array) => hash("sha256", bytes, "buffer").subarray(0, 4)

const bytesOf = (uuid: string) => Buffer.from(uuid.replaceAll("-", ""), "hex")

const uuidOf = (bytes: Buffer) => bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

const invalid = (message: string) => InvalidRequestError.at("query", "after", "invalidFormat", message)

const malformed = invalid("Expected the `cursor` of an earlier answer, unchanged, or nothing to begin at the start")
const foreign = invalid(
  "The cursor belongs to another operation: each delta has its own cursors, and the feed, the stream and histories share theirs"
)

const elsewhere = new CursorExpiredError({
  message: "The cursor is of another installation; start over without `after`"
})
const restored = new CursorExpiredError({
  message: "The cursor is of changes that the restored backup does not have; start over without `after`"
})

/** Events behind the cursor were pruned; `oldest` is the cursor before those that are retained, where it can be used. */
export const expired = (oldest?: string) =>
  new CursorExpiredError({
    message: "The events behind this cursor were pruned; start over without `after`",
    ...(oldest === undefined ? {} : { oldest })
  })
