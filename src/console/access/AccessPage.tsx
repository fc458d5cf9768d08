import { Predicate } from "effect"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useAddress } from "../data/Addresses.ts"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { call, labelOf, textOf } from "../data/Calls.ts"
import { Picker } from "../record/Picker.tsx"
import { useSession } from "../session/Session.tsx"
import { Loaded } from "../shell/Loaded.tsx"
import { Heading } from "../shell/Heading.tsx"
import { RecordLink } from "../shell/RecordLink.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { type Kind, resourceOf, sides } from "./Sides.ts"

const Choice = ({
  kind,
  pick,
  uuid
}: {
  readonly kind: Kind
  readonly uuid: string | undefined
  readonly pick: (uuid: string) => void
}) => {
  const words = useWords()
  const names = useNames()
  const { client } = useSession()
  const [isChoosing, setChoosing] = useState(false)
  const resource = resourceOf(kind)
  const { data } = useQuery({
    queryKey: ["record", resource.name, uuid, "label"],
    enabled: uuid !== undefined,
    queryFn: ({ signal }) => call(client, resource.actions.get!, uuid, {}, { signal })
  })
  return (
    <div>
      <button type="button" onClick={() => setChoosing(true)}>
        {names.one(resource.name)}: {data === undefined ? words.choose : labelOf(data, resource.label)}
      </button>
      {isChoosing ? (
        <Picker
          resource={resource}
          isSingle
          close={() => setChoosing(false)}
          pick={([first]) => {
            setChoosing(false)
            if (first !== undefined) pick(first)
          }}
        />
      ) : null}
    </div>
  )
}

const Explanation = ({ decision, reasons: all }: Json) => {
  const words = useWords()
  const reasons = objectsIn(all)
  return (
    <section>
      <h2 className={decision === "allow" ? "done" : "problem"}>
        {decision === "allow" ? words.canSee : words.cannotSee}
      </h2>
      <table>
        <tbody>
          {reasons.map((reason) => {
            const record = Predicate.isObject(reason["record"]) ? reason["record"] : undefined
            return (
              <tr key={`${textOf(reason["code"])} ${textOf(reason["path"])} ${textOf(record?.["uuid"])}`}>
                <td className={reason["effect"] === "allow" ? "done" : "problem"}>
                  {reason["effect"] === "allow" ? words.allows : words.denies}
                </td>
                <td>{textOf(reason["message"])}</td>
                <td>{record === undefined ? null : <RecordLink record={record} />}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

const Reasons = ({ query }: { readonly query: Readonly<Record<string, string>> }) => {
  const { client } = useSession()
  const explained = useQuery({
    queryKey: ["access", query],
    queryFn: ({ signal }) => call(client, { group: "access", name: "explain" }, query, { signal })
  })
  return <Loaded query={explained}>{(answer) => <Explanation {...answer} />}</Loaded>
}

/** Why a user or a location can or cannot see a product or a post. */
const AccessPage = () => {
  const words = useWords()
  const address = useAddress()
  const { can } = useSession()
  const query = Object.fromEntries(
    sides.flatMap((kinds) => {
      const kind = kinds.find((one) => address.get(one) !== undefined)
      return kind === undefined ? [] : [[kind, address.get(kind)!]]
    })
  )
  return (
    <>
      <Heading text={words.access} />
      <p className="hint">{words.accessHint}</p>
      <div className="access">
        {sides.map((kinds) => (
          <div key={kinds.join(" ")}>
            {kinds
              .filter((kind) => can(resourceOf(kind).actions.list))
              .map((kind) => (
                <Choice
                  key={kind}
                  kind={kind}
                  uuid={query[kind]}
                  // The other one of the same side is left.
                  pick={(uuid) =>
                    address.set({ ...Object.fromEntries(kinds.map((one) => [one, undefined])), [kind]: uuid })
                  }
                />
              ))}
          </div>
        ))}
      </div>
      {Object.keys(query).length === sides.length ? <Reasons query={query} /> : null}
    </>
  )
}

export default AccessPage
