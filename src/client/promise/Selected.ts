/** The dotted paths of the members of a record, those of objects in lists among them. */
export type PathOf<A> =
  A extends ReadonlyArray<infer Element>
    ? Element extends object
      ? PathOf<Element>
      : never
    : A extends object
      ? { [K in keyof A & string]: K | `${K}.${PathOf<NonNullable<A[K]>>}` }[keyof A & string]
      : never

/** The rest of the paths that begin with a name. */
type Below<Path, Name extends PropertyKey> = Path extends `${Name & string}.${infer Rest}` ? Rest : never

/** The names of members of which only a part is asked for. */
type Divided<A, Path> = {
  [K in keyof A]-?: K extends Path ? never : [Below<Path, K>] extends [never] ? never : K
}[keyof A]

/** The names among them of those that every answer has: an object of which nothing is set is absent. */
type Present<A, Path> = {
  [K in Divided<A, Path>]: undefined extends A[K] ? never : {} extends Part<A[K], Below<Path, K>> ? never : K
}[Divided<A, Path>]

type Flat<A> = { [K in keyof A]: A[K] }

type Part<A, Path> =
  A extends ReadonlyArray<infer Element>
    ? ReadonlyArray<Part<Element, Path>>
    : Flat<
        { readonly [K in keyof A as K extends Path ? K : never]: A[K] } & {
          readonly [K in Present<A, Path>]: Part<A[K], Below<Path, K>>
        } & {
          readonly [K in Exclude<Divided<A, Path>, Present<A, Path>>]?: Part<NonNullable<A[K]>, Below<Path, K>>
        }
      >

/** What an answer has of a record: its uuid, and the members at the paths. */
export type Selected<A, Path extends string> = Part<A, Path | "uuid">
