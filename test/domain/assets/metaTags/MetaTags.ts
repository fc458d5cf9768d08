import type { MetaTagId, MetaTagOption, MetaTagType } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import type { Definition } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"

let made = 0

/** A uuid no other record of the file has. */
export const uuid = () => `0198d9e4-7d0c-7b1e-8b54-${String(++made).padStart(12, "0")}`

/** An option by its key; one that ends in `!` is inactive. */
export const option = (name: string): MetaTagOption => ({
  uuid: uuid(),
  key: name.replace("!", ""),
  translations: [],
  position: 0,
  active: !name.endsWith("!")
})

/** A definition that demands nothing but its type. */
export const definition = (type: MetaTagType, fields: Partial<Definition> = {}): Definition => ({
  uuid: uuid() as MetaTagId,
  key: type,
  type,
  required: false,
  editable: true,
  options: [],
  ...fields
})
