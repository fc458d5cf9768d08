import { Link } from "wouter"
import definition from "virtual:definition"
import { formAddress } from "../data/Addresses.ts"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useSpoken, useWords } from "../words/Words.tsx"

interface Value {
  readonly key: string
  readonly label: string
}

interface Option extends Value {
  readonly values: ReadonlyArray<Value>
}

const maxRows = 200

const byPosition = (one: Json, other: Json) => Number(one["position"]) - Number(other["position"])

/** The translation in the language of the console, else the first one. */
const translated = (node: Json, member: string, language: string) => {
  const all = objectsIn(node["translations"])
  const own = all.find((one) => textOf(one["locale"]).startsWith(language)) ?? all[0]
  return textOf(own?.[member]) || textOf(node["key"])
}

const optionsOf = (content: Json, language: string): ReadonlyArray<Option> =>
  objectsIn(content["options"])
    .toSorted(byPosition)
    .map((option) => ({
      key: textOf(option["key"]),
      label: translated(option, "name", language),
      values: objectsIn(option["values"])
        .toSorted(byPosition)
        .map((value) => ({ key: textOf(value["key"]), label: translated(value, "label", language) }))
    }))

/** Every choice of one value of each option, at most as many as are shown. */
const combinationsOf = (options: ReadonlyArray<Option>): ReadonlyArray<ReadonlyArray<Value>> =>
  options.reduce<ReadonlyArray<ReadonlyArray<Value>>>(
    (before, { values }) => before.flatMap((chosen) => values.map((value) => [...chosen, value])).slice(0, maxRows),
    [[]]
  )

const keyOf = (optionValues: ReadonlyArray<Json>) =>
  optionValues
    .map(({ option, value }) => JSON.stringify([option, value]))
    .toSorted()
    .join(" ")

const Existing = ({ variant }: { readonly variant: Json }) => {
  const words = useWords()
  const formats = useFormats()
  const available = variant["available"]
  return (
    <>
      <Link href={`/products/${textOf(variant["uuid"])}`}>{textOf(variant["identifier"])}</Link>
      {variant["active"] === true ? null : <span className="hint"> {words.inactive}</span>}
      {typeof available === "number" ? <span className="hint"> {formats.number(available)}</span> : null}
    </>
  )
}

/** The variants of a product: a column for each value of the last option, a row for each choice of the others. */
export const VariantMatrix = ({ content, product }: { readonly content: Json; readonly product: string }) => {
  const words = useWords()
  const formats = useFormats()
  const { language } = useSpoken()
  const { can } = useSession()
  const options = optionsOf(content, language)
  const across = options.at(-1)
  if (across === undefined) return null
  const down = options.slice(0, -1)
  const rows = combinationsOf(down)
  const possible = options.reduce((count, { values }) => count * values.length, 1)
  const variants = new Map(objectsIn(content["variants"]).map((one) => [keyOf(objectsIn(one["optionValues"])), one]))
  const missing = Number(content["missingCombinations"] ?? 0)
  const creates = can(definition.actions["products.create"])
  const cell = (chosen: ReadonlyArray<Value>) => {
    const optionValues = options.map((option, index) => ({ option: option.key, value: chosen[index]!.key }))
    const variant = variants.get(keyOf(optionValues))
    const name = chosen.map(({ label }) => label).join(", ")
    if (variant !== undefined) return <Existing variant={variant} />
    return creates ? (
      <Link
        href={formAddress("products", { type: "variant", parentUuid: product, name, optionValues })}
        aria-label={words.createVariant(name)}
      >
        +
      </Link>
    ) : (
      "–"
    )
  }
  return (
    <section>
      <p>{words.variantCount(formats.number(possible - missing), formats.number(possible))}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached with the keyboard */}
      <div className="matrix" role="region" aria-label={words.variants} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {down.map(({ key, label }) => (
                <th scope="col" key={key}>
                  {label}
                </th>
              ))}
              {across.values.map(({ key, label }) => (
                <th scope="col" key={key}>
                  {down.length === 0 ? `${across.label}: ${label}` : label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((chosen) => (
              <tr key={chosen.map(({ key }) => key).join(" ")}>
                {chosen.map(({ key, label }) => (
                  <th scope="row" key={key}>
                    {label}
                  </th>
                ))}
                {across.values.map((value) => (
                  <td key={value.key}>{cell([...chosen, value])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length < maxRows ? null : <p className="hint">{words.firstRows(formats.number(maxRows))}</p>}
    </section>
  )
}
