/** Collects the values of a statement; the SQL only ever holds their numbers. */
export class Parameters {
  readonly values: Array<unknown> = []

  /** The placeholder of a value, cast to a type so that PostgreSQL need not guess. */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}
