import type { Brand, DateTime } from "effect"

/** A decoded value as JSON has it: times and ids as text. */
export type Plain<T> = T extends DateTime.Utc
  ? string
  : T extends string & Brand.Brand<string>
    ? string
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends ReadonlyArray<infer Element>
        ? ReadonlyArray<Plain<Element>>
        : T extends object
          ? { readonly [K in keyof T]: Plain<T[K]> }
          : T
