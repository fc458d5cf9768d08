import type { Target } from "./target.ts"

/** A third-party attack tool, and how it is run against the service. */
export interface Tool {
  readonly name: string
  /** The required command and its Debian package; absent if `npm install` provides it. */
  readonly needs: { readonly command: string; readonly package: string } | undefined
  /** Whether the tool leaves the row counts of all tables unchanged. */
  readonly readsOnly: boolean
  readonly run: (target: Target) => Promise<Verdict>
}

export interface Verdict {
  /** The attacked parts of the service. */
  readonly at: string
  readonly figures: string
  /** The findings, one sentence each. */
  readonly findings: ReadonlyArray<string>
}
