import { sql } from "../../sql/Fragment.ts"

/** The name of the user `u`: the first and last names, or else the username. */
export const personName = sql`coalesce(nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.username)`
