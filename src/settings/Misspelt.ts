import { ConfigProvider, Effect } from "effect"
import { nearest } from "../domain/write/Suggestions.ts"

/** The names of all variables with a value. A provider splits them at `_`. */
const namesBelow = (
  provider: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
  Effect.gen(function* () {
    const node = yield* provider.load(path)
    const own = node?.value === undefined ? [] : [path.join("_")]
    const children = node?._tag === "Record" ? [...node.keys] : []
    const below = yield* Effect.forEach(children, (child) => namesBelow(provider, [...path, child]))
    return [...own, ...below.flat()]
  })

/** Names of this length differ in two places from names that mean something else, as `HOME` from `HOST`. */
const short = 7

/** A line for each variable that is no setting and whose name is nearly that of one. */
export const misspelt = Effect.fnUntraced(function* (settings: ReadonlyArray<string>) {
  const names = yield* Effect.orDie(namesBelow(yield* ConfigProvider.ConfigProvider))
  return names
    .filter((name) => !settings.includes(name))
    .flatMap((name) => {
      const found = nearest(name, settings).filter(
        (setting) => setting.length > short || nearest(name, [setting], 1).length > 0
      )
      return found.length === 0 ? [] : [`${name} is not a setting; did you mean ${found.join(" or ")}?`]
    })
})
