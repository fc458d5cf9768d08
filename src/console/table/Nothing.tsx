import { useAddress } from "../data/Addresses.ts"
import type { Resource } from "../definition/Definition.ts"
import { isImportable } from "../importing/Importable.ts"
import { useSession } from "../session/Session.tsx"
import { Empty } from "../shell/Failure.tsx"
import { useNames, useWords } from "../words/Words.tsx"

/** What stands for the records of a view that has none: how to create the first one, or how to see all. */
export const Nothing = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords()
  const names = useNames()
  const address = useAddress()
  const { can } = useSession()
  const isNarrowed = ["filter", "search", "openAt"].some((name) => address.get(name) !== undefined)
  if (!isNarrowed) {
    const hint = isImportable(resource, can) ? words.emptyImport : words.emptyHint
    return <Empty title={words.empty}>{can(resource.actions.create) ? hint(names.one(resource.name)) : null}</Empty>
  }
  return (
    <Empty title={words.noneMatch}>
      <button type="button" onClick={() => address.set({ filter: undefined, search: undefined, openAt: undefined })}>
        {words.clearFilters}
      </button>
    </Empty>
  )
}
