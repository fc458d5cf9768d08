import { Record } from "effect"
import { extraMembers } from "../../domain/assets/Asset.ts"
import type { ManagedType } from "../../domain/changes/RecordType.ts"
import type { RecordType } from "../../domain/changes/RecordType.ts"
import type { Locales } from "../../domain/schema/Locale.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Column, jsonOf, withoutExtras } from "../../sql/Columns.ts"
import type { Fragment } from "../../sql/Fragment.ts"
import * as PostColumns from "../posts/PostColumns.ts"
import * as RecordColumns from "./RecordColumns.ts"

/** The JSON text of the row `t` for a reader of these types. */
type JsonFor = (visible: ReadonlySet<RecordType>) => Fragment

/** The members of an asset in a mirror. */
const included = ["categories", "metaTags"]

/** The records that can be mirrored, by type, as the reads answer them. */
export const make = (
  publicUrl: PublicUrl["Service"],
  { defaultLanguage, defaultLocale }: Locales["Service"]
): Readonly<Record<ManagedType, JsonFor>> => {
  const fixed = (columns: ReadonlyArray<Column>): JsonFor => {
    const json = jsonOf(columns)
    return () => json
  }
  const columns = RecordColumns.make(publicUrl, defaultLocale)
  return {
    ...Record.map(columns, fixed),
    asset: fixed(withoutExtras(columns.asset, extraMembers, included)),
    post: (visible) => {
      const view = { groupNames: visible.has("group"), locationNames: visible.has("location") }
      return PostColumns.jsonIn(PostColumns.viewOf(view, defaultLanguage))
    }
  }
}
