import { Predicate } from "effect"
import type { ReactNode } from "react"
import type { Json } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { Cell } from "../table/Cell.tsx"
import { useNames } from "../words/Words.tsx"

const isAddress = (value: unknown): value is string => typeof value === "string" && /^https?:\/\//.test(value)

const Value = ({ value }: { readonly value: unknown }): ReactNode => {
  if (isAddress(value)) {
    return (
      <a href={value} rel="noreferrer">
        {value.length > 60 ? `${value.slice(0, 60)}…` : value}
      </a>
    )
  }
  return <Cell value={value} />
}

/** The members of a record or of a part of it, in the order of the definition. */
export const Members = ({ node }: { readonly node: Json }) => {
  const names = useNames()
  const plain = Object.entries(node).filter(
    ([, value]) => !Predicate.isObject(value) && !(Array.isArray(value) && value.some(Predicate.isObject))
  )
  const nested = Object.entries(node).filter(([name]) => !plain.some(([other]) => other === name))
  return (
    <>
      <dl className="values">
        {plain.map(([name, value]) => (
          <div key={name}>
            <dt>{names.member(name)}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
      {nested.map(([name, value]) => (
        <details className="object" key={name} open>
          <summary>{names.member(name)}</summary>
          {(Array.isArray(value) ? value : [value]).map((element, index) =>
            Predicate.isObject(element) ? (
              <Members key={textOf(element["uuid"]) || textOf(element["locale"]) || index} node={element} />
            ) : (
              <p key={textOf(element)}>{textOf(element)}</p>
            )
          )}
        </details>
      ))}
    </>
  )
}

const Picture = ({ record }: { readonly record: Json }) => {
  const urls = record["urls"]
  if (!Predicate.isObject(urls) || typeof urls["preview"] !== "string") return null
  return <img className="preview" src={urls["preview"]} alt="" />
}

/** Everything that a record has. What belongs to other records is on tabs of its own. */
export const Details = ({ record, resource }: { readonly record: Json; readonly resource: Resource }) => {
  const related = new Set(resource.relations.map((relation) => relation.resource))
  const own = Object.fromEntries(Object.entries(record).filter(([name]) => !related.has(name) && name !== "urls"))
  return (
    <>
      <Picture record={record} />
      <Members node={own} />
    </>
  )
}
