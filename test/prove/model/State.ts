import { Predicate } from "effect"
import { unknownUuid } from "../../support/requests/Requests.ts"
import type { Kind } from "./Commands.ts"

export type Json = Record<string, any>

export interface File {
  readonly name: string
  readonly size: number
}

/** A relation between two kinds as pairs of uuids. */
export type Links = Set<string>

/** The three relations as pairs of kinds. */
export const relations = [
  ["users", "locations"],
  ["users", "groups"],
  ["groups", "locations"]
] as const

/** The stored records, and the uuids of deleted ones. */
export class State {
  readonly records: Record<Kind, Map<string, Json>> = {
    locations: new Map(),
    users: new Map(),
    groups: new Map(),
    products: new Map(),
    posts: new Map(),
    assets: new Map()
  }
  readonly files = new Map<string, File>()
  readonly modules = new Map<string, Json>()
  readonly links: ReadonlyArray<Links> = relations.map(() => new Set())
  readonly media = new Map<string, ReadonlyArray<Json>>()
  /** The last seen `editedAt` of each record. */
  readonly edited = new Map<string, string>()
  readonly gone = new Map<Kind, Array<string>>()

  /** The uuid for a number: of an existing record, or for the highest numbers a deleted or unknown one. */
  of(kind: Kind | "files", number: number): string {
    const there = [...(kind === "files" ? this.files : this.records[kind]).keys()]
    const gone = kind === "files" ? undefined : this.gone.get(kind)?.at(-1)
    if (number === 23) return unknownUuid
    return (number >= 21 ? gone : undefined) ?? there[number % there.length] ?? gone ?? unknownUuid
  }

  all(kind: Kind, numbers: ReadonlyArray<number>): ReadonlyArray<string> {
    return [...new Set(numbers.map((number) => this.of(kind, number)))]
  }

  has(kind: Kind, uuid: string): boolean {
    return this.records[kind].has(uuid)
  }

  /** The members of a kind that belong to a record, unordered. */
  members(owner: Kind, uuid: string, member: Kind): ReadonlyArray<string> {
    const index = relations.findIndex(
      (pair) => (pair as ReadonlyArray<Kind>).includes(owner) && (pair as ReadonlyArray<Kind>).includes(member)
    )
    const isFirst = relations[index]![0] === owner
    return [...this.links[index]!].flatMap((link) => {
      const [first, second] = link.split(" ") as [string, string]
      return isFirst ? (first === uuid ? [second] : []) : second === uuid ? [first] : []
    })
  }

  replace(owner: Kind, uuid: string, member: Kind, members: ReadonlyArray<string>): void {
    const index = relations.findIndex(
      (pair) => (pair as ReadonlyArray<Kind>).includes(owner) && (pair as ReadonlyArray<Kind>).includes(member)
    )
    const links = this.links[index]!
    const isFirst = relations[index]![0] === owner
    const link = (other: string) => (isFirst ? `${uuid} ${other}` : `${other} ${uuid}`)
    for (const other of this.members(owner, uuid, member)) links.delete(link(other))
    for (const other of members) links.add(link(other))
  }

  remove(kind: Kind, uuid: string): void {
    this.records[kind].delete(uuid)
    this.gone.set(kind, [...(this.gone.get(kind) ?? []), uuid])
    for (const links of this.links) for (const link of links) if (link.includes(uuid)) links.delete(link)
    for (const key of this.modules.keys()) if (key.startsWith(uuid)) this.modules.delete(key)
    this.media.delete(uuid)
    for (const [location, media] of this.media)
      this.media.set(
        location,
        media.filter(({ assetUuid }) => assetUuid !== uuid)
      )
  }
}

/** Merges members recursively; `null` clears a member, an empty object unsets it, lists are replaced. */
export const merge = (current: Json | undefined, patch: Json): Json => {
  const merged: Json = { ...current }
  for (const [member, value] of Object.entries(patch)) {
    const next = Predicate.isObject(value)
      ? merge(Predicate.isObject(merged[member]) ? merged[member] : {}, value)
      : value
    if (next === null || next === undefined || (Predicate.isObject(next) && Object.keys(next).length === 0))
      delete merged[member]
    else merged[member] = next
  }
  return merged
}
