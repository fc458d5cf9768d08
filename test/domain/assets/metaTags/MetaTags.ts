import type { MetaTagId, MetaTagOption, MetaTagType } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import type { Definition } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"

let made = 0

/** A uuid that is unique within the test file. */
export const uuid = () => `0198d9e4-7d0c-7b1e-8b54-${String(++made).padStart(12, "0")}`

/** An option with the given key; a name that ends in `!` makes it inactive. */
export const option = (name: string): MetaTagOption => ({
  uuid: uuid(),
  key: name.replace("!", ""),
  translations: [],
  position: 0,
  active: !name.endsWith("!")
})

/** A definition without rules except its type. */
export const definition = (type: MetaTagType, fields: Partial<Definition> = {}): Definition => ({
  uuid: uuid() as MetaTagId,
  key: type,
  type,
  required: false,
  editable: true,
  options: [],
  ...fields
})
