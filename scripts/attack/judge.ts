import type { Target } from "./target.ts"

/** A program that somebody else wrote to attack services, and how it is put on this one. */
export interface Judge {
  readonly name: string
  /** The command it needs, and the Debian package that has it; nothing when it came with `npm install`. */
  readonly needs: { readonly command: string; readonly package: string } | undefined
  /** Leaves every table with as many rows as before. */
  readonly readsOnly: boolean
  readonly run: (target: Target) => Promise<Verdict>
}

export interface Verdict {
  /** What of the service it was pointed at. */
  readonly at: string
  readonly figures: string
  /** What it says is wrong, a sentence each. */
  readonly findings: ReadonlyArray<string>
}
