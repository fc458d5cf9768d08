import type { Words } from "./en.ts"

/** "countryCode" is "Country code". */
const readable = (name: string) => {
  const spaced = name.replaceAll(/[-_]/g, " ").replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const segmentsOf = (path: string) => path.split(".").filter((segment) => !/^\d+$/.test(segment))

/** The parts of a record whose members are named alone: "Address: city" reads worse than "City". */
const unnamed = new Set(["address", "contact"])

/** The members of a path that its name has. A record may have several addresses: only the one of its own is not named. */
const namedIn = (path: string): ReadonlyArray<string> => {
  const segments = segmentsOf(path).filter(
    (segment, index, all) => segment !== "translations" || index === all.length - 1
  )
  return segments.length === 2 && unnamed.has(segments[0]!) ? segments.slice(1) : segments
}

/** Whether the name of a path is that of its last member. */
export const isNamedAlone = (path: string) => namedIn(path).length === 1

/** The names of resources and members for people: from the words, else from the definition. */
export const namesOf = (words: Words) => {
  // A member that names a record is called as the record is.
  const member = (name: string) => words.members[name] ?? readable(name.replace(/Uuids?$/, ""))
  const one = (resource: string) =>
    words.singular[resource] ??
    readable(resource)
      .replace(/ies$/, "y")
      .replace(/s$/, "")
      .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  return {
    member,
    one,
    /** A value of a record, after what it is in: "Invoice: address: city". Only a text and its translations have the same name. */
    path: (path: string) =>
      namedIn(path)
        .map((name, index) => (index === 0 ? member(name) : member(name).toLowerCase()))
        .join(": "),
    /** All members of a path. */
    whole: (path: string) => segmentsOf(path).map(member).join(" › "),
    resource: (resource: string) => words.resources[resource] ?? readable(resource)
  }
}
