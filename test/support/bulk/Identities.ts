import { Predicate } from "effect"

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** Members to which two services give different values, if any: times of writes, requests, and addresses. */
const own = new Set(["createdAt", "editedAt", "created_at", "edited_at", "requestId", "urls", "thumbnailUrl"])

/** Which uuid of one service stands for which of another. Uuids that no record has are the same in both. */
export class Identities {
  readonly #there = new Map<string, string>()
  readonly #here = new Map<string, string>()

  add(here: string, there: string) {
    this.#there.set(here, there)
    this.#here.set(there, here)
  }

  /** The uuid in the other service. */
  of(here: string): string {
    return this.#there.get(here.toLowerCase()) ?? here
  }

  #rename(text: string) {
    return text.replaceAll(uuid, (one) => this.of(one))
  }

  /** A JSON value with the uuids of the other service. */
  translate<A>(value: A): A {
    return value === undefined ? value : (JSON.parse(this.#rename(JSON.stringify(value))) as A)
  }

  /** Whether the two stand for each other; two that are new do from now on. */
  #isSame(here: string, there: string) {
    const known = this.#there.get(here)
    if (known !== undefined || this.#here.has(there)) return known === there
    if (here !== there) this.add(here, there)
    return true
  }

  /** How two values differ, apart from times and the uuids that stand for each other. */
  differences(here: unknown, there: unknown, path = ""): ReadonlyArray<string> {
    const differ = () => [`${path}: ${JSON.stringify(here)} and ${JSON.stringify(there)}`]
    if (typeof here === "string" && typeof there === "string") {
      const [ours = [], theirs = []] = [here, there].map((text) => text.match(uuid) ?? [])
      const isAlike = here.replaceAll(uuid, "") === there.replaceAll(uuid, "") && ours.length === theirs.length
      return isAlike && ours.every((one, index) => this.#isSame(one, theirs[index]!)) ? [] : differ()
    }
    if (Array.isArray(here) && Array.isArray(there)) {
      if (here.length !== there.length) return differ()
      const isSet = /\.(?:added|removed)$/.test(path)
      const byUuid = (a: string, b: string) => (this.of(a) < this.of(b) ? -1 : 1)
      const [ours, theirs] = isSet ? [here.toSorted(byUuid), there.toSorted(byUuid)] : [here, there]
      return ours.flatMap((one: unknown, index) => this.differences(one, theirs[index], `${path}[${index}]`))
    }
    if (Predicate.isObject(here) && Predicate.isObject(there)) {
      const ours: Readonly<Record<string, unknown>> = Object.fromEntries(
        Object.entries(here).map(([name, value]) => [this.#rename(name), value])
      )
      return [...new Set([...Object.keys(ours), ...Object.keys(there)])].flatMap((name) =>
        own.has(name) && name in ours && name in there
          ? []
          : this.differences(ours[name], there[name], `${path}.${name}`)
      )
    }
    return here === there ? [] : differ()
  }
}
