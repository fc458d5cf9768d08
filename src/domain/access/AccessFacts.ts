/** What a decision and its reasons are made of, as one statement reads it. */

export interface Named {
  readonly uuid: string
  /** Absent for a record that does not exist any more. */
  readonly label?: string | null
}

/** A product or a post, or the parent of a product. */
export interface Published extends Named {
  readonly status: string
  readonly from: string | null
  readonly until: string | null
  readonly isPublished: boolean
  readonly isWithinDates: boolean
  /** Whether `until` has passed. */
  readonly isOver: boolean
}

/** An entry of the permissions module or the audience that names a group or a location of the subject. */
export interface Match extends Named {
  readonly list: "groups" | "locations"
  readonly isView: boolean
  readonly actions: ReadonlyArray<string> | null
}

export interface AccessFacts {
  readonly subject: Named & {
    readonly type: "user" | "location"
    readonly status: string | null
    readonly places: number
  }
  readonly resource: Published & { readonly type: "product" | "post" }
  /** Of a variant. */
  readonly parent: Published | null
  /** Whether each rule allows. */
  readonly rules: Readonly<Record<string, boolean>>
  readonly given: {
    /** Null without a permissions module. */
    readonly to: "everyone" | "groups" | "locations" | null
    readonly count: number
    /** Some of those it is given to. */
    readonly some: ReadonlyArray<Named>
    /** Those that name a group or a location of the subject: the first ones, with `view` before others. */
    readonly matches: ReadonlyArray<Match>
    /** The actions of all of them. */
    readonly actions: ReadonlyArray<string>
  }
  /** Null without a locations module. */
  readonly locations: { readonly mode: string; readonly place: Named | null } | null
  /** Null without a campaigns module. */
  readonly campaigns: { readonly isLimited: boolean; readonly current: string | null } | null
}
