import { useMutation } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import definition from "virtual:definition"
import { Failure } from "../shell/Failure.tsx"
import { Heading } from "../shell/Heading.tsx"
import { call, textOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { FileDrop } from "../assets/FileDrop.tsx"
import { isImportable } from "./Importable.ts"
import { choose, guess, type Mapping, ndjsonOf } from "./Mapping.ts"
import { PlanView } from "./PlanView.tsx"
import { read, type Spreadsheet } from "./Spreadsheet.ts"

interface Opened {
  readonly name: string
  readonly sheet: Spreadsheet
}

const ColumnMapping = ({
  isFixed,
  mapping,
  opened: { sheet },
  resource,
  set
}: {
  readonly resource: Resource
  readonly opened: Opened
  readonly mapping: Mapping
  readonly isFixed: boolean
  readonly set: (mapping: Mapping) => void
}) => {
  const words = useWords()
  const names = useNames()
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{words.importColumn}</th>
          <th scope="col">{words.importMember}</th>
        </tr>
      </thead>
      <tbody>
        {sheet.titles.map((title, index) => (
          // Columns stay in their order, and two may have the same title.
          <tr key={index}>
            <th scope="row">
              {title} <span className="hint">{sheet.rows[0]?.cells[index]}</span>
            </th>
            <td>
              <select
                aria-label={`${words.importMember}: ${title}`}
                value={mapping[index] ?? ""}
                disabled={isFixed}
                onChange={(event) =>
                  set(choose(mapping, index, event.target.value === "" ? undefined : event.target.value))
                }
              >
                <option value="">{words.ignoreColumn}</option>
                {resource.imported.map(({ path }) => (
                  <option key={path} value={path}>
                    {names.path(path)}
                  </option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Imports a spreadsheet: drop it, say what its columns are, see what would change, apply. */
const ImportPage = () => {
  const words = useWords()
  const names = useNames()
  const { can, client } = useSession()
  const resources = definition.resources.filter((one) => isImportable(one, can))
  const [name, setName] = useState(resources[0]?.name ?? "")
  const [opened, setOpened] = useState<Opened>()
  const [mapping, setMapping] = useState<Mapping>([])
  const resource = resources.find((candidate) => candidate.name === name)

  const open = useMutation({
    mutationFn: async (file: File) => ({ name: file.name, sheet: await read(file) }),
    onSuccess: (next) => {
      setOpened(next)
      if (resource !== undefined) setMapping(guess(resource, next.sheet.titles))
      leave()
    }
  })
  // The comparison whose plan is shown once it is made, if none was left since.
  const wanted = useRef(0)
  const plan = useMutation({
    mutationFn: async ({ resource, sheet }: { readonly resource: Resource; readonly sheet: Spreadsheet }) => {
      const comparison = ++wanted.current
      const rows = ndjsonOf(resource, sheet, mapping)
      const made = await call(client, { group: "plans", name: "create" }, rows, { resource: resource.name })
      if (comparison !== wanted.current) {
        void call(client, { group: "plans", name: "delete" }, textOf(made["uuid"])).result()
      }
      return made
    }
  })
  const leave = () => {
    wanted.current++
    plan.reset()
  }
  useEffect(() => () => void wanted.current++, [])
  if (resource === undefined)
    return <Failure error={new Error(words.missingPermissions("read:locations, create:locations, update:locations"))} />
  return (
    <>
      <Heading text={words.import} />
      <p className="hint">{words.importHint}</p>
      <label>
        {words.importAs}
        <select
          value={name}
          disabled={plan.isPending}
          onChange={(event) => {
            setName(event.target.value)
            setOpened(undefined)
            leave()
          }}
        >
          {resources.map((one) => (
            <option key={one.name} value={one.name}>
              {names.resource(one.name)}
            </option>
          ))}
        </select>
      </label>
      <FileDrop
        accept=".csv,.xlsx,.txt"
        isMultiple={false}
        take={([file]) => file !== undefined && open.mutate(file)}
      />
      {open.error === null ? null : <Failure error={new Error(words.unreadableFile)} />}
      {opened === undefined || plan.data !== undefined ? null : (
        <section>
          <h2>{opened.name}</h2>
          <ColumnMapping
            resource={resource}
            opened={opened}
            mapping={mapping}
            isFixed={plan.isPending}
            set={setMapping}
          />
          <p className="actions">
            <button
              type="button"
              className="primary"
              disabled={plan.isPending}
              onClick={() => plan.mutate({ resource, sheet: opened.sheet })}
            >
              {plan.isPending ? words.comparing : words.makePlan}
            </button>
          </p>
          {plan.error === null ? null : <Failure error={plan.error} />}
        </section>
      )}
      {plan.data === undefined ? null : (
        <PlanView key={textOf(plan.data["uuid"])} resource={resource} plan={plan.data} leave={leave} />
      )}
    </>
  )
}

export default ImportPage
